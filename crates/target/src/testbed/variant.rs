//! Code layouts: the same code, arranged differently.
//!
//! The address of a function depends on things that nobody measures: the order in which
//! objects are linked, and the alignment of functions. A result that depends on it says
//! nothing about the code.

use std::borrow::Cow;

/// A layout of the modules. 0 is as they are written; the others link their objects in
/// another order and align functions differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Variant(pub(super) u32);

impl Variant {
    /// Additional compiler options.
    pub(super) fn flag(self) -> Option<&'static str> {
        match self.0 {
            0 => None,
            odd if odd % 2 == 1 => Some("-falign-functions=64"),
            _ => Some("-falign-functions=32"),
        }
    }

    /// The text of a file; only the object lists in Kbuild files change.
    pub(super) fn laid_out<'t>(self, path: &str, text: &'t str) -> Cow<'t, str> {
        let is_kbuild = path.rsplit('/').next() == Some("Kbuild");
        if self.0 == 0 || !is_kbuild {
            return Cow::Borrowed(text);
        }
        let mut all = text.to_owned();
        for (name, mut objects) in lists(text) {
            self.permute(&mut objects);
            all.push_str(&format!("\n{name} := {}\n", objects.join(" ")));
        }
        Cow::Owned(all)
    }

    /// Reverses the objects in odd variants, and rotates them by half their number once for
    /// each two variants.
    fn permute(self, objects: &mut [&str]) {
        if self.0 % 2 == 1 {
            objects.reverse();
        }
        let by = usize::try_from(self.0 / 2).unwrap_or(0);
        let by = by * objects.len().div_ceil(2);
        objects.rotate_left(by % objects.len().max(1));
    }
}

/// The objects of each module that is made of several: everything assigned to `NAME-y`, in
/// order. A list that contains anything but objects is left out.
fn lists(text: &str) -> Vec<(String, Vec<&str>)> {
    let mut lists: Vec<(String, Vec<&str>)> = Vec::new();
    let mut open: Option<usize> = None;
    for line in text.lines() {
        let list = match open {
            Some(at) => Some((at, line)),
            None => line.split_once('=').and_then(|(before, rest)| {
                let name = before.trim_end_matches([':', '+']).trim();
                let ours = name.ends_with("-y") && name != "obj-y" && !name.contains("flags");
                let at = lists.iter().position(|(other, _)| other == name);
                ours.then(|| {
                    let at = at.unwrap_or_else(|| {
                        lists.push((name.to_owned(), Vec::new()));
                        lists.len() - 1
                    });
                    (at, rest)
                })
            }),
        };
        open = None;
        if let Some((at, rest)) = list {
            let goes_on = rest.strip_suffix('\\');
            open = goes_on.map(|_| at);
            let objects = goes_on.unwrap_or(rest).split_whitespace();
            if let Some((_, all)) = lists.get_mut(at) {
                all.extend(objects);
            }
        }
    }
    lists.retain(|(_, objects)| objects.iter().all(|object| object.ends_with(".o")));
    lists
}

#[cfg(test)]
mod tests {
    use super::*;

    const KBUILD: &str = "obj-m := a.o\nccflags-y += -I x.o\na-y := one.o two.o \\\n\tthree.o\n\
                          a-y += four.o\nb-y := five.o $(more)\n";

    #[test]
    fn objects_are_linked_in_other_orders_and_none_is_lost() {
        let added = |variant| {
            let text = Variant(variant).laid_out("x/Kbuild", KBUILD);
            text.strip_prefix(KBUILD).unwrap().to_owned()
        };
        assert_eq!(added(0), "");
        assert_eq!(added(1), "\na-y := four.o three.o two.o one.o\n");
        assert_eq!(added(2), "\na-y := three.o four.o one.o two.o\n");
    }

    #[test]
    fn only_lists_of_objects_are_changed() {
        assert_eq!(Variant(1).laid_out("x/main.c", KBUILD), KBUILD);
        assert_eq!(
            Variant(1).laid_out("Kbuild", "obj-m += a.o\n"),
            "obj-m += a.o\n"
        );
    }

    #[test]
    fn each_build_of_ours_is_laid_out_in_a_way_of_its_own() {
        let all: Vec<String> = (0..assize_job::MemoryImage::BUILDS)
            .map(|variant| {
                let variant = Variant(variant);
                let files = super::super::ModuleSources::ours();
                let texts = files
                    .files()
                    .map(|(path, text)| variant.laid_out(path, text).into_owned());
                format!("{:?}{}", variant.flag(), texts.collect::<String>())
            })
            .collect();
        for (at, one) in all.iter().enumerate() {
            assert!(!all[..at].contains(one), "{at}");
        }
    }
}
