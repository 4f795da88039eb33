use proptest::prelude::*;

use super::*;

/// A completed answer that contains this text.
fn answer(text: &str) -> Vec<u8> {
    let raw = serde_json::to_string(text).unwrap();
    format!(
        "ready\n\
         {{\"record\":\"hello\",\"schema\":\"assize.agent/1\",\"version\":\"0\"}}\n\
         {{\"record\":\"raw\",\"name\":\"n\",\"text\":{raw}}}\n\
         {{\"record\":\"end\",\"records\":2}}\n"
    )
    .into_bytes()
}

fn key(seed: u64) -> CacheKey {
    CacheKey::hash(&[b"kernel", &seed.to_le_bytes()])
}

fn cache() -> (tempfile::TempDir, Cache) {
    let directory = tempfile::tempdir().unwrap();
    let cache = Cache::new(directory.path().join("runs"));
    (directory, cache)
}

proptest! {
    #[test]
    fn what_was_put_is_what_is_got(text: String, seed: u64) {
        let (_directory, cache) = cache();
        let answer = answer(&text);
        prop_assert_eq!(cache.get(&key(seed)), None);
        cache.put(&key(seed), &answer).unwrap();
        prop_assert_eq!(cache.get(&key(seed)), Some(answer));
        prop_assert_eq!(cache.get(&key(seed ^ 1)), None);
    }

    #[test]
    fn keys_differ_when_parts_differ(
        one in proptest::collection::vec("[ab]{0,2}", 0..4),
        other in proptest::collection::vec("[ab]{0,2}", 0..4),
    ) {
        prop_assert_eq!(one == other, key_of(&one) == key_of(&other));
    }

    #[test]
    fn moving_bytes_between_parts_makes_another_key(
        text in "[ab]{4,9}",
        cuts in proptest::collection::vec(0_usize..10, 6),
    ) {
        let split = |cuts: &[usize]| {
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (text.len() + 1)).collect();
            cuts.sort_unstable();
            let bounds = [&[0], cuts.as_slice(), &[text.len()]].concat();
            let pieces = bounds.windows(2).map(|ends| text[ends[0]..ends[1]].to_string());
            pieces.collect::<Vec<_>>()
        };
        let (one, other) = (split(&cuts[..3]), split(&cuts[3..]));
        prop_assert_eq!(one == other, key_of(&one) == key_of(&other));
    }
}

fn key_of(parts: &[String]) -> CacheKey {
    CacheKey::hash(&Vec::from_iter(parts.iter().map(String::as_bytes)))
}

#[test]
fn a_file_with_any_flipped_bit_or_cut_is_absent_and_removed() {
    let (_directory, cache) = cache();
    let key = key(7);
    cache.put(&key, &answer("x")).unwrap();
    let path = cache.path(&key);
    let good = fs::read(&path).unwrap();
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 1 << (at % 8);
        for bytes in [bad.as_slice(), &good[..at]] {
            fs::write(&path, bytes).unwrap();
            assert_eq!(cache.get(&key), None, "byte {at}");
            assert!(!path.exists(), "byte {at}");
        }
    }
    let longer = [good.as_slice(), b"\0"].concat();
    fs::write(&path, longer).unwrap();
    assert_eq!(cache.get(&key), None);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, &good).unwrap();
    assert_eq!(cache.get(&key), Some(answer("x")));
}

#[test]
fn an_entry_under_another_name_is_absent() {
    let (_directory, cache) = cache();
    cache.put(&key(1), &answer("x")).unwrap();
    let other = cache.path(&key(2));
    fs::create_dir_all(other.parent().unwrap()).unwrap();
    fs::copy(cache.path(&key(1)), other).unwrap();
    assert_eq!(cache.get(&key(2)), None);
}

#[test]
fn runs_that_have_not_completed_are_not_kept() {
    let (_directory, cache) = cache();
    let whole = answer("x");
    let error = cache.put(&key(1), &whole[..whole.len() - 1]).unwrap_err();
    assert_eq!(error.why, "it has not completed");
    assert_eq!(cache.get(&key(1)), None);
    assert_eq!(cache.stats(), CacheSize::default());
}

#[test]
fn what_was_not_used_for_longest_goes_first() {
    let (_directory, cache) = cache();
    let mut size = 0;
    for seed in 0..10 {
        cache.put(&key(seed), &answer("x")).unwrap();
        let path = cache.path(&key(seed));
        size = fs::metadata(&path).unwrap().len();
        let used = SystemTime::UNIX_EPOCH + Duration::from_secs(1000 + seed);
        File::open(&path).unwrap().set_modified(used).unwrap();
    }
    assert_eq!(
        cache.stats(),
        CacheSize {
            entries: 10,
            bytes: 10 * size
        }
    );
    // Reading the oldest entry makes it the most recently used.
    assert!(cache.get(&key(0)).is_some());
    let cache = cache.with_limit(5 * size);
    cache.put(&key(10), &answer("x")).unwrap();
    let kept: Vec<u64> = (0..11)
        .filter(|seed| cache.path(&key(*seed)).exists())
        .collect();
    assert_eq!(kept, [0, 8, 9, 10]);
    assert_eq!(
        cache.stats(),
        CacheSize {
            entries: 4,
            bytes: 4 * size
        }
    );
}

#[test]
fn a_cache_never_outgrows_its_limit_by_much() {
    let (_directory, cache) = cache();
    cache.put(&key(0), &answer("x")).unwrap();
    let limit = 10 * cache.stats().bytes;
    let cache = cache.with_limit(limit);
    for seed in 0..50 {
        cache.put(&key(seed), &answer("x")).unwrap();
        assert!(cache.stats().bytes <= limit + limit / 10);
    }
}

#[test]
fn clearing_removes_entries_and_nothing_else() {
    let (directory, cache) = cache();
    cache.put(&key(1), &answer("x")).unwrap();
    let foreign = directory.path().join("runs/notes.txt");
    fs::write(&foreign, "mine").unwrap();
    cache.clear().unwrap();
    assert_eq!(cache.stats(), CacheSize::default());
    assert_eq!(cache.get(&key(1)), None);
    assert_eq!(fs::read_to_string(foreign).unwrap(), "mine");
    let absent = Cache::new(directory.path().join("absent"));
    absent.clear().unwrap();
    assert_eq!(absent.stats(), CacheSize::default());
}

/// As on the nodes of a farm: each writer opens the directory itself, and prunes it.
#[test]
fn writers_at_once_leave_whole_entries_to_readers_while_they_prune() {
    let (_directory, cache) = cache();
    let open = || Cache::new(cache.root.clone()).with_limit(2000);
    let pruned = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for thread in 0..4_u64 {
            let (node, pruned) = (open(), &pruned);
            scope.spawn(move || {
                for round in 0..40 {
                    let seed = (thread + round) % 16;
                    let expected = answer(&seed.to_string());
                    node.put(&key(seed), &expected).unwrap();
                    for other in 0..16 {
                        let got = node.get(&key(other));
                        pruned.fetch_add(u64::from(got.is_none()), Ordering::Relaxed);
                        assert!(got.is_none_or(|got| got == answer(&other.to_string())));
                    }
                }
            });
        }
    });
    assert!(pruned.into_inner() > 0, "readers have missed entries");
    assert_eq!(cache.files().filter(|path| is_unfinished(path)).count(), 0);
}

/// Fills a small file system, in a separate mount namespace.
#[test]
fn a_full_disk_is_an_error_and_what_was_kept_stays() {
    const INSIDE: &str = "ASSIZE_TEST_FULL_DISK";
    let name = "cache::tests::a_full_disk_is_an_error_and_what_was_kept_stays";
    let Some(root) = std::env::var_os(INSIDE) else {
        let place = tempfile::tempdir().unwrap();
        let script = format!(
            "mount -t tmpfs -o size=64k none \"${INSIDE}\" || exit 77; exec \"$0\" --exact {name}"
        );
        let done = std::process::Command::new("unshare")
            .args(["--user", "--map-root-user", "--mount", "sh", "-c", &script])
            .arg(std::env::current_exe().unwrap())
            .env(INSIDE, place.path())
            .output();
        match done {
            Ok(done) if done.status.success() => {
                assert!(String::from_utf8_lossy(&done.stdout).contains("1 passed"));
            }
            Ok(done) if done.status.code() != Some(77) && done.stderr.is_empty() => {
                panic!("{}", String::from_utf8_lossy(&done.stdout));
            }
            _ => eprintln!("skipped: no tmpfs can be mounted in a namespace"),
        }
        return;
    };
    let cache = Cache::new(root.into());
    let full = (0..100).find_map(|seed| {
        let error = cache.put(&key(seed), &answer("x")).err()?;
        Some((seed, error))
    });
    let (seed, error) = full.unwrap();
    assert!(error.why.contains("No space left"), "{error}");
    assert!(error.mend.is_some());
    assert_eq!(cache.get(&key(seed)), None);
    assert!((0..seed).all(|kept| cache.get(&key(kept)) == Some(answer("x"))));
    assert_eq!(cache.files().filter(|path| is_unfinished(path)).count(), 0);
    cache.remove(&key(0));
    cache.remove(&key(1));
    cache.put(&key(0), &answer("x")).unwrap();
}
