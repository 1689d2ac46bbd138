//! One source with the edits of all its mutants. Every edited function holds its own body and the body of each mutant,
//! and asks at run time which mutant is active. So a design is compiled once for all its mutants, and an edit may be
//! any text inside a function.

use std::collections::BTreeMap;
use std::ops::Range;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// One edit of one mutant in one file.
pub struct Edit {
    /// The mutant's number.
    pub mutant: usize,
    /// The bytes of the file that are replaced.
    pub at: Range<usize>,
    /// The replacement.
    pub by: String,
}

/// The only place of `text` in `source`. With an `anchor`, the first place after it.
///
/// # Errors
/// When there is no such place, or more than one.
pub fn find(source: &str, anchor: Option<&str>, text: &str) -> Result<Range<usize>, String> {
    let from = match anchor {
        Some(anchor) => only(source, anchor)?.end,
        None => 0,
    };
    let at = match anchor {
        // The first place after the anchor.
        Some(_) => source[from..].find(text).map(|at| at..at + text.len()),
        None => Some(only(source, text)?),
    };
    let at = at.ok_or_else(|| format!("after its anchor there is no `{text}`"))?;
    Ok(from + at.start..from + at.end)
}

fn only(source: &str, text: &str) -> Result<Range<usize>, String> {
    let mut places = source.match_indices(text);
    match (places.next(), places.next()) {
        (Some((at, _)), None) => Ok(at..at + text.len()),
        (None, _) => Err(format!("there is no `{text}`")),
        _ => Err(format!("`{text}` stands there more than once")),
    }
}

/// The source with all edits in it.
///
/// # Errors
/// When the source does not parse, or an edit is in no function.
pub fn applied(source: &str, edits: &[Edit]) -> Result<String, String> {
    let file = syn::parse_file(source).map_err(|why| why.to_string())?;
    let mut bodies = Bodies(Vec::new());
    bodies.visit_file(&file);
    let mut edited: BTreeMap<(usize, usize), Vec<&Edit>> = BTreeMap::new();
    for edit in edits {
        let around = |body: &&Range<usize>| body.start < edit.at.start && edit.at.end < body.end;
        let innermost = bodies.0.iter().filter(around).min_by_key(|body| body.len());
        let body = innermost.ok_or("it is in no function")?;
        edited.entry((body.start, body.end)).or_default().push(edit);
    }
    // An edit of a block inside a body that is edited itself belongs to that body.
    let ranges: Vec<_> = edited.keys().copied().collect();
    for inner in ranges.iter().rev() {
        let outer = ranges
            .iter()
            .find(|outer| *outer != inner && outer.0 <= inner.0 && inner.1 <= outer.1);
        if let Some(outer) = outer {
            let edits = edited.remove(inner).unwrap_or_default();
            edited.entry(*outer).or_default().extend(edits);
        }
    }
    let mut text = source.to_owned();
    for ((start, end), edits) in edited.into_iter().rev() {
        text.replace_range(start..end, &choice(source, start..end, &edits));
    }
    Ok(text)
}

/// A block with the body of the active mutant, or else the original.
fn choice(source: &str, body: Range<usize>, edits: &[&Edit]) -> String {
    let mut mutants: Vec<usize> = edits.iter().map(|edit| edit.mutant).collect();
    mutants.sort_unstable();
    mutants.dedup();
    let mut text = "{ match crate::mutants::active() {\n".to_owned();
    for mutant in mutants {
        let mut mine: Vec<&&Edit> = edits.iter().filter(|edit| edit.mutant == mutant).collect();
        mine.sort_by_key(|edit| std::cmp::Reverse(edit.at.start));
        if mine.windows(2).any(|two| two[1].at.end > two[0].at.start) {
            panic!(
                "two edits of one mutant overlap: {:?}",
                &source[mine[0].at.clone()]
            );
        }
        let mut with = source[body.clone()].to_owned();
        for edit in mine {
            with.replace_range(
                edit.at.start - body.start..edit.at.end - body.start,
                &edit.by,
            );
        }
        text.push_str(&format!("{mutant} => {with}\n"));
    }
    text.push_str(&format!("_ => {}\n}} }}", &source[body]));
    text
}

/// The bytes of every block that can be replaced as a whole: bodies of functions, and `async` blocks. An edit in an
/// `async` block is chosen inside the block, because two `async` blocks have different types even if their texts agree.
struct Bodies(Vec<Range<usize>>);

impl Bodies {
    fn add(&mut self, block: &syn::Block) {
        self.0.push(block.span().byte_range());
    }
}

impl<'ast> Visit<'ast> for Bodies {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.add(&item.block);
        visit::visit_item_fn(self, item);
    }
    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.add(&item.block);
        visit::visit_impl_item_fn(self, item);
    }
    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.add(block);
        }
        visit::visit_trait_item_fn(self, item);
    }
    fn visit_expr_async(&mut self, block: &'ast syn::ExprAsync) {
        self.add(&block.block);
        visit::visit_expr_async(self, block);
    }
}
