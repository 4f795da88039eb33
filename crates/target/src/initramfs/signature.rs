//! Module signatures: whether a kernel demands them, and stripping them.

use crate::kernels::Kernel;

/// The end of a signed module.
const MARK: &[u8] = b"~Module signature appended~\n";
/// Size of the trailer before the mark: six bytes of kinds and lengths, two of padding, and
/// the signature's length, big endian.
const TRAILER: usize = 12;

/// Whether the kernel's configuration may demand module signatures.
pub(super) fn is_wanted(kernel: &Kernel) -> bool {
    let Some(config) = &kernel.config else {
        // It was stored without a configuration. An unneeded signature only costs time.
        return true;
    };
    let config = std::fs::read_to_string(config).unwrap_or_default();
    let demands = [
        "CONFIG_MODULE_SIG_FORCE=y",
        "CONFIG_LOCK_DOWN_KERNEL_FORCE_INTEGRITY=y",
        "CONFIG_LOCK_DOWN_KERNEL_FORCE_CONFIDENTIALITY=y",
    ];
    config.is_empty() || config.lines().any(|line| demands.contains(&line))
}

/// Whether these words of the command line may demand module signatures.
pub(crate) fn is_demanded(words: &[String]) -> bool {
    let demands = ["lockdown", "module.sig_enforce"];
    let mut names = words.iter().map(|word| word.split('=').next());
    names.any(|name| name.is_some_and(|name| demands.contains(&name)))
}

/// Strips the signature off a module, if it has one.
pub(super) fn remove(module: &mut Vec<u8>) {
    let Some(rest) = module.strip_suffix(MARK) else {
        return;
    };
    let Some((_, trailer)) = rest.split_last_chunk::<TRAILER>() else {
        return;
    };
    let [_, _, _, signer, key, _, _, _, length @ ..] = *trailer;
    let length = u64::from(u32::from_be_bytes(length)) + u64::from(signer) + u64::from(key);
    let before = usize::try_from(length)
        .ok()
        .and_then(|length| (rest.len() - TRAILER).checked_sub(length));
    if let Some(before) = before {
        module.truncate(before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signed(module: &[u8], signature: &[u8], length: u32) -> Vec<u8> {
        let mut bytes = [module, signature, &[0, 0, 2, 0, 0, 0, 0, 0]].concat();
        bytes.extend(length.to_be_bytes());
        bytes.extend(MARK);
        bytes
    }

    #[test]
    fn a_module_loses_its_signature_and_nothing_else() {
        let mut module = signed(b"module", b"signature", 9);
        remove(&mut module);
        assert_eq!(module, b"module");
        remove(&mut module);
        assert_eq!(module, b"module");
        // Malformed input is left for the kernel to refuse.
        for odd in [signed(b"module", b"", 7), MARK.to_vec(), Vec::new()] {
            let mut module = odd.clone();
            remove(&mut module);
            assert_eq!(module, odd);
        }
    }

    #[test]
    fn a_kernel_says_in_its_configuration_what_it_demands() {
        let place = tempfile::NamedTempFile::new().unwrap();
        let wanted = |text: &str| {
            std::fs::write(&place, text).unwrap();
            is_wanted(&Kernel::of_config("", place.path()))
        };
        assert!(!wanted(
            "CONFIG_MODULE_SIG=y\n# CONFIG_MODULE_SIG_FORCE is not set\n"
        ));
        assert!(wanted("CONFIG_MODULE_SIG=y\nCONFIG_MODULE_SIG_FORCE=y\n"));
        assert!(wanted("CONFIG_LOCK_DOWN_KERNEL_FORCE_INTEGRITY=y\n"));
        assert!(wanted(""));
        let demanded = |line: &str| {
            let words: Vec<String> = line.split(' ').map(String::from).collect();
            is_demanded(&words)
        };
        assert!(demanded("quiet lockdown=integrity"));
        assert!(demanded("module.sig_enforce"));
        assert!(demanded("module.sig_enforce=1 quiet"));
        assert!(!demanded("quiet preempt=full"));
    }
}
