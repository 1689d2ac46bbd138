//! Which hardware threads share a core, a cache, a NUMA node, a socket. Source: `/sys/devices/system/cpu`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use flowmeter_records::Topology;

use super::pin;

const ROOT: &str = "/sys/devices/system/cpu";

/// Where one hardware thread lies. Texts are the system's own names.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    cpu: usize,
    socket: String,
    core: String,
    node: Option<String>,
    cache: Option<String>,
}

impl Place {
    /// `None` where the system does not say.
    fn read(root: &Path, cpu: usize) -> Option<Place> {
        let folder = root.join(format!("cpu{cpu}"));
        let line = |path: String| {
            let text = fs::read_to_string(folder.join(path)).ok()?;
            Some(text.trim().to_owned())
        };
        // The hardware threads of its core are the name of the core: numbers of cores repeat in each socket.
        let core = line("topology/thread_siblings_list".to_owned())?;
        let last_level =
            (0..10).map_while(|level| line(format!("cache/index{level}/shared_cpu_list")));
        let node = fs::read_dir(&folder).ok()?.find_map(|entry| {
            let name = entry.ok()?.file_name().into_string().ok()?;
            name.strip_prefix("node").map(str::to_owned)
        });
        Some(Place {
            cpu,
            socket: line("topology/physical_package_id".to_owned())?,
            cache: last_level.last(),
            node,
            core,
        })
    }
}

/// The hardware threads of this process, and where each lies.
#[derive(Clone, Debug)]
pub struct Places(Vec<Place>);

impl Places {
    /// Those of this process; `None` where the system does not say.
    pub fn of_process() -> Option<&'static Places> {
        static PLACES: OnceLock<Option<Places>> = OnceLock::new();
        PLACES
            .get_or_init(|| Places::read(Path::new(ROOT), pin::cores()?))
            .as_ref()
    }

    /// Those of these hardware threads.
    #[cfg(test)]
    pub(crate) fn of(cpus: &[usize]) -> Option<Places> {
        Places::read(Path::new(ROOT), cpus)
    }

    fn read(root: &Path, cpus: &[usize]) -> Option<Places> {
        let places: Option<Vec<_>> = cpus.iter().map(|cpu| Place::read(root, *cpu)).collect();
        places.filter(|places| !places.is_empty()).map(Places)
    }

    /// How many there are of what.
    pub fn counted(&self) -> Topology {
        let distinct = |of: fn(&Place) -> Option<&String>| {
            let names: Option<BTreeSet<_>> = self.0.iter().map(of).collect();
            names.map(|names| names.len())
        };
        Topology {
            hardware_threads: self.0.len(),
            cores: distinct(|place| Some(&place.core)).unwrap_or(0),
            last_level_caches: distinct(|place| place.cache.as_ref()),
            numa_nodes: distinct(|place| place.node.as_ref()),
            sockets: distinct(|place| Some(&place.socket)).unwrap_or(0),
        }
    }

    /// A core for each, socket by socket, and second hardware threads last.
    pub fn cores_first(&self) -> Vec<usize> {
        self.ordered(|ranks| (ranks.in_core, ranks.socket, ranks.core_in_socket))
    }

    /// The hardware threads of a core next to each other, and cores with only one last.
    pub fn siblings_first(&self) -> Vec<usize> {
        let order = self.ordered(|ranks| (ranks.socket, ranks.core_in_socket, ranks.in_core));
        let core = |cpu: &usize| self.0.iter().find(|it| it.cpu == *cpu).map(|it| &it.core);
        let is_alone = |cpu: &usize| order.iter().filter(|it| core(it) == core(cpu)).count() == 1;
        let (alone, mut shared): (Vec<usize>, Vec<usize>) =
            order.iter().copied().partition(is_alone);
        shared.extend(alone);
        shared
    }

    /// One socket after another in turn, and second hardware threads last.
    pub fn sockets_in_turn(&self) -> Vec<usize> {
        self.ordered(|ranks| (ranks.in_core, ranks.core_in_socket, ranks.socket))
    }

    fn ordered(&self, key: fn(&Ranks) -> (usize, usize, usize)) -> Vec<usize> {
        let mut sockets: BTreeMap<&str, usize> = BTreeMap::new();
        let mut cores: BTreeMap<&str, usize> = BTreeMap::new();
        let mut cores_of: BTreeMap<&str, usize> = BTreeMap::new();
        let mut threads_of: BTreeMap<&str, usize> = BTreeMap::new();
        let mut ranked: Vec<_> = self
            .0
            .iter()
            .map(|place| {
                let seen = sockets.len();
                let socket = *sockets.entry(&place.socket).or_insert(seen);
                let core_in_socket = *cores.entry(&place.core).or_insert_with(|| {
                    let next = cores_of.entry(&place.socket).or_default();
                    *next += 1;
                    *next
                });
                let in_core = threads_of.entry(&place.core).or_default();
                *in_core += 1;
                let ranks = Ranks {
                    socket,
                    core_in_socket,
                    in_core: *in_core,
                };
                (key(&ranks), place.cpu)
            })
            .collect();
        ranked.sort_unstable();
        ranked.into_iter().map(|(_, cpu)| cpu).collect()
    }
}

/// The rank of a hardware thread in its core, of the core in its socket, and of the socket.
struct Ranks {
    socket: usize,
    core_in_socket: usize,
    in_core: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two sockets of two cores of two hardware threads, numbered as Linux does: first threads of all cores first.
    fn two_sockets(root: &Path) {
        for cpu in 0..8 {
            let (core, socket) = (cpu % 4, cpu % 4 / 2);
            let folder = root.join(format!("cpu{cpu}"));
            let write = |path: &str, text: String| {
                let path = folder.join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, format!("{text}\n")).unwrap();
            };
            write(
                "topology/thread_siblings_list",
                format!("{core},{}", core + 4),
            );
            write("topology/physical_package_id", socket.to_string());
            write(
                "cache/index0/shared_cpu_list",
                format!("{core},{}", core + 4),
            );
            write("cache/index1/shared_cpu_list", format!("socket {socket}"));
            write(&format!("node{socket}/cpulist"), String::new());
        }
    }

    #[test]
    fn each_order_begins_with_what_it_is_named_after() {
        let root = tempfile::tempdir().unwrap();
        two_sockets(root.path());
        let all = Places::read(root.path(), &[0, 1, 2, 3, 4, 5, 6, 7]).unwrap();
        assert_eq!(all.cores_first(), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(all.siblings_first(), [0, 4, 1, 5, 2, 6, 3, 7]);
        assert_eq!(all.sockets_in_turn(), [0, 2, 1, 3, 4, 6, 5, 7]);
        // Where siblings have neighbouring numbers, and the process may use some hardware threads only.
        let some = Places::read(root.path(), &[0, 4, 1, 3]).unwrap();
        assert_eq!(some.cores_first(), [0, 1, 3, 4]);
        assert_eq!(some.siblings_first(), [0, 4, 1, 3]);
        let alone_first = Places::read(root.path(), &[0, 1, 5]).unwrap();
        assert_eq!(alone_first.siblings_first(), [1, 5, 0]);
        assert_eq!(some.sockets_in_turn(), [0, 3, 1, 4]);
    }

    #[test]
    fn cores_caches_nodes_and_sockets_are_counted() {
        let root = tempfile::tempdir().unwrap();
        two_sockets(root.path());
        let counted = |cpus: &[usize]| Places::read(root.path(), cpus).map(|it| it.counted());
        let all = Topology {
            hardware_threads: 8,
            cores: 4,
            last_level_caches: Some(2),
            numa_nodes: Some(2),
            sockets: 2,
        };
        assert_eq!(counted(&[0, 1, 2, 3, 4, 5, 6, 7]), Some(all));
        let one_core = Topology {
            hardware_threads: 2,
            cores: 1,
            last_level_caches: Some(1),
            numa_nodes: Some(1),
            sockets: 1,
        };
        assert_eq!(counted(&[1, 5]), Some(one_core));
        assert_eq!(counted(&[8]), None, "the system does not say");
        assert_eq!(counted(&[]), None);
    }
}
