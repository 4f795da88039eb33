//! Data, style and script embedded in the page.

use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Returns the JSON deflated and in Base64, which cannot end a script element.
pub(super) fn deflate_json(value: &Value) -> io::Result<String> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(value.to_string().as_bytes())?;
    Ok(STANDARD.encode(encoder.finish()?))
}

/// The Content-Security-Policy: allows this style and this script, and no requests.
pub(super) fn policy(style: &str, script: &str) -> String {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text.as_bytes()));
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        hash(style),
        hash(script)
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test may fail.

    use std::io::Read;

    use super::*;

    #[test]
    fn data_come_back_and_cannot_break_out() {
        let value = serde_json::json!({"name": "</script><script>alert(1)</script>"});
        let text = deflate_json(&value).unwrap();
        assert!(!text.contains('<'));
        let bytes = STANDARD.decode(text).unwrap();
        let mut back = String::new();
        flate2::read::ZlibDecoder::new(&bytes[..])
            .read_to_string(&mut back)
            .unwrap();
        assert_eq!(serde_json::from_str::<Value>(&back).unwrap(), value);
    }

    #[test]
    fn the_policy_names_the_hashes_that_browsers_compute() {
        // Reference: printf %s a | openssl dgst -sha256 -binary | base64
        let a = "ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs=";
        let policy = policy("a", "");
        assert!(policy.contains(&format!("style-src 'sha256-{a}'")));
        assert!(policy.starts_with("default-src 'none';"));
    }
}
