//! What each task does next. The facade announces an access to a shared object right before the scheduling point that
//! precedes it, so a scheduler can tell which pending steps conflict.

use ::shuttle::scheduler::TaskId;
use ::std::cell::RefCell;
use ::std::panic::Location;

use super::super::sites::Kind;
use super::{cost, task};

/// An access to a shared object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Access {
    /// The address of the object. Another object may have it in another execution.
    pub(super) object: usize,
    /// What it does.
    pub(super) kind: Kind,
    /// The line that makes it. The same number means the same line, within a process.
    pub(super) line: usize,
}

impl Access {
    /// Whether it sees what others wrote.
    pub(super) fn reads(self) -> bool {
        self.kind != Kind::Store
    }

    /// Whether others may see it.
    pub(super) fn writes(self) -> bool {
        self.kind != Kind::Load
    }

    /// Whether the order of the two can matter.
    pub(super) fn conflicts(self, other: Access) -> bool {
        self.object == other.object && (self.writes() || other.writes())
    }
}

// Indexed by task.
::std::thread_local! {
    static NEXT: RefCell<Vec<Option<Access>>> = const { RefCell::new(Vec::new()) };
}

/// The calling thread's next step is this access.
pub(super) fn announce(object: usize, kind: Kind, at: &'static Location<'static>) {
    let Some(task) = task() else { return };
    NEXT.with_borrow_mut(|next| {
        if next.len() <= task {
            next.resize(task + 1, None);
        }
        next[task] = Some(Access {
            object,
            kind,
            line: ::std::ptr::from_ref(at) as usize,
        });
    });
}

/// The next step of a task, if it is an access.
pub(super) fn of(task: TaskId) -> Option<Access> {
    NEXT.with_borrow(|next| next.get(usize::from(task)).copied().flatten())
}

/// The task makes its next step now; what follows it is not known yet.
pub(super) fn made(task: TaskId) {
    let made = NEXT.with_borrow_mut(|next| next.get_mut(usize::from(task))?.take());
    if let Some(Access { object, kind, .. }) = made {
        cost::made(usize::from(task), object, kind);
    }
}

/// An execution begins.
pub(super) fn clear() {
    NEXT.with_borrow_mut(Vec::clear);
}
