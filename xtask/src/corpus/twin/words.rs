//! Words of ours for words of theirs.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::super::label::mixed;

/// Words that say what a text is about and that nobody owns: those with which
/// configurations, workloads, metrics and statistics are named.
const SIGNALS: &str = "
a b off on none default baseline base baselines before after patch patched patches patchset
patchsets unpatched unpatch unmodified modified vanilla stock original orig old new series with
without w/ w/o wo mainline upstream linus git tree linux kernel kernels v current previous next
parent bad good fix fixed revert reverted regression regressed regressions regress improvement
improvements improve improves improved improving faster slower speedup slowdown better worse higher
lower less more than vs vs. versus compared comparing comparison compare change changes changed diff
difference delta gain loss drop drops dropped decrease decreased increase increased reduction
reduced degradation optimized optimised optimization enabled disabled enable disable applied
applying only both sides side tx rx
run runs rounds iterations iteration samples sample times repeated average averages averaged avg
mean median min max minimum maximum std dev stddev stdev deviation standard error variance
percentile percentiles percent total totals sum count counts score index result results test tests
tested testing case config configuration setup baseline: benchmark benchmarks benchmarking
benchmarked bench measured measurement measurements performance perf numbers data figures below
following shows show shown table throughput bandwidth bw latency lat clat slat iops kiops ops op
tps qps rps req/s requests transactions bogo elapsed real user usr sys system time cpu cpus util
utilization usage cycles instructions misses cache calls maxcycles size sizes
sec secs second seconds msec msecs usec usecs nsec ms us ns s min minutes hours mb gb kb mib gib kib
mb/s gb/s kb/s mib/s gib/s kib/s mbps gbps mbit gbit hz mhz ghz joules watts
read reads write writes reading writing random randread randwrite randrw rand seq sequential buffered
direct sync async polled poll polling irq iopoll mode numjobs iodepth depth queue jobs job thread
threads process processes workers worker groups group cgroup root non-root single multi parallel
copy copies file files page pages block blocks bs 4k 8k 16k 32k 64k 128k 256k 512k 1m
fio dd dbench iozone sysbench hackbench netperf iperf iperf3 kernbench mmtests lmbench stream
unixbench schbench cyclictest hyperfine stress-ng will-it-scale fs_mark filebench pgbench tcrypt
kunit ktap lkp memcached redis mutilate usemem vm-scalability vdso libc syscall preadv epoll
io_uring libaio psync aio dio xfs ext4 btrfs f2fs nvme ssd hdd raid raid0 raid1 raid5 raid6 raid10
bfq mq-deadline kyber psi zstd lz4 deflate sha256 sha512 aes avx avx2 avx512 gfni neon altivec generic
encryption decryption uncached cached aligned unaligned memcpy memset fallocate unwritten
io tcp udp nic numa node host guest vm machine machines server client
status nothing commit commits re signed-off-by reviewed-by tested-by acked-by cc link fixes reported-by message wrote
";

/// Words without a meaning of their own, which stand around figures.
const SMALL: &str = "
a an the of to from in is was are were and or for by at as it on with than up down per about around
over under between only same each every all no not goes went gets got
it this that these those there they we i you have has had be will would seems looks works
";

/// Text of ours from which prose is made.
const FILLER: &str = "
a narrow lane leads past the orchard where two old pear trees lean over the wall and drop their
fruit into the grass each autumn nobody collects it except the hedgehogs and a boy who lives in the
mill farther along stands a barn whose roof lost its tiles in a storm and was mended with straw the
owner keeps goats there and a blind horse called thimble that follows anyone who whistles in spring
the meadow floods and herons walk between the posts as if they had rented the place my aunt painted
them once from the kitchen window but the picture shows mostly rain and a corner of the curtain she
said that water never sits still long enough for a beginner so she turned to onions which are
patient and have a round honest shape beyond the ridge lies a pond with carp that are said to be
older than the chapel bells on quiet evenings one may hear them turn in the mud while the miller
hums and oils his gate nothing much happens and most people who grew up here like it that way
whenever a stranger asks for the inn they point toward the poplars and offer him plums he usually
stays until the lamps are lit and leaves with jam under his arm and a promise to return soon
";

/// Nouns of ours, for names.
const NAMES: &str = "
acorn amber anchor apple arrow aspen badger barley basil basket beacon birch bramble bridle brook
bucket butter candle canvas cedar cherry chestnut cinder clover cobble copper cotton cricket crocus
daisy dapple ember falcon fennel fern ferret fiddle finch flannel garnet ginger gravel hamlet hazel
heather heron holly honey iris ivory jasper juniper kestrel kettle lantern larch laurel lavender
lemon lichen lilac linden linen lupin magpie maple marble marigold meadow mellow minnow mitten
mustard nettle nutmeg oaken olive orchid otter paddle parsley pebble pepper pigeon poplar poppy
primrose pumpkin quarry quince rabbit raven ribbon robin rowan rustic saddle saffron sage sorrel
sparrow spruce squirrel sundial swallow tansy teapot thicket thistle thyme timber tulip turnip
velvet violet walnut weasel willow yarrow
";

fn set(text: &'static str) -> BTreeSet<&'static str> {
    text.split_whitespace().collect()
}

static SIGNAL_SET: LazyLock<BTreeSet<&str>> = LazyLock::new(|| set(SIGNALS));
static SMALL_SET: LazyLock<BTreeSet<&str>> = LazyLock::new(|| set(SMALL));
static FILLER_WORDS: LazyLock<Vec<&str>> = LazyLock::new(|| FILLER.split_whitespace().collect());
static NAME_WORDS: LazyLock<Vec<&str>> = LazyLock::new(|| NAMES.split_whitespace().collect());

/// Whether a word, without its punctuation, may stand as it is.
pub(super) fn is_signal(word: &str) -> bool {
    let word = word.to_lowercase();
    word.len() > 1 && SIGNAL_SET.contains(word.as_str())
}

/// Whether a word may stand beside a figure.
pub(super) fn is_small(word: &str) -> bool {
    SMALL_SET.contains(word.to_lowercase().as_str())
}

/// Gives the words of our text one after the other, again and again.
pub(super) struct Filler {
    at: usize,
}

impl Filler {
    /// Begins somewhere that depends on a name.
    pub(super) fn new(name: &str) -> Filler {
        Filler {
            at: (mixed(1, name.as_bytes()) % 10_007) as usize,
        }
    }

    /// The next word, with a capital letter if the word it stands for has one.
    pub(super) fn next(&mut self, like: &str) -> String {
        let words = &*FILLER_WORDS;
        let word = words.get(self.at % words.len()).copied().unwrap_or("and");
        self.at += 1;
        capital_as(word, like)
    }
}

/// A noun of ours for a word of theirs, always the same one.
pub(super) fn noun(word: &str) -> String {
    let words = &*NAME_WORDS;
    let hash = mixed(2, word.to_lowercase().as_bytes()) as usize;
    let noun = words.get(hash % words.len()).copied().unwrap_or("acorn");
    let loud = word.len() > 1 && !word.contains(|c: char| c.is_lowercase());
    match loud {
        true => noun.to_uppercase(),
        false => capital_as(noun, word),
    }
}

fn capital_as(word: &str, like: &str) -> String {
    let mut letters = word.chars();
    match (like.chars().next(), letters.next()) {
        (Some(first), Some(letter)) if first.is_uppercase() => {
            letter.to_uppercase().chain(letters).collect()
        }
        _ => word.to_string(),
    }
}

/// Another identifier of the same form: letters become letters of the same
/// case, everything else stays.
pub(super) fn respelled(word: &str) -> String {
    const CONSONANTS: &[u8] = b"bdfgklmnprstvz";
    const VOWELS: &[u8] = b"aeiou";
    let hash = mixed(3, word.as_bytes());
    let mut vowel = hash & 1 == 0;
    let respell = |(at, c): (usize, char)| {
        if !c.is_ascii_alphabetic() {
            return c;
        }
        vowel = !vowel;
        let letters = if vowel { VOWELS } else { CONSONANTS };
        let draw = mixed(hash, &[at as u8]) as usize;
        let new = char::from(letters.get(draw % letters.len()).copied().unwrap_or(b'a'));
        if c.is_uppercase() {
            new.to_ascii_uppercase()
        } else {
            new
        }
    };
    word.chars().enumerate().map(respell).collect()
}

/// Words of languages and tools that code may keep.
const KEYWORDS: &str = "
if else for while do return goto break continue switch case struct static const void int char long
short unsigned bool enum union sizeof inline extern typedef include define ifdef endif null true
false diff git index new file mode deleted rename from to similarity create delete files changed
insertion insertions deletion deletions info warning error bug cpu pid comm call trace code kernel
panic hardware
";

static KEYWORD_SET: LazyLock<BTreeSet<&str>> = LazyLock::new(|| set(KEYWORDS));

/// Whether code may keep a word.
pub(super) fn is_keyword(word: &str) -> bool {
    KEYWORD_SET.contains(word.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identifier_keeps_its_form_and_is_always_the_same() {
        let new = respelled("xfs_trans_Commit2");
        assert_ne!(new, "xfs_trans_Commit2");
        assert_eq!(new, respelled("xfs_trans_Commit2"));
        assert_eq!(new.len(), "xfs_trans_Commit2".len());
        assert_eq!(new.match_indices('_').count(), 2);
        assert!(new.ends_with('2') && new.chars().nth(10).unwrap().is_uppercase());
    }

    #[test]
    fn signal_words_stand_and_names_do_not() {
        assert!(is_signal("Patched") && is_signal("throughput"));
        assert!(!is_signal("Johannes"));
        assert_eq!(noun("Johannes"), noun("Johannes"));
        assert!(noun("SLAB").chars().all(char::is_uppercase));
    }
}
