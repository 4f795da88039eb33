// The data block of a page.

/** Reads the data block: deflated JSON in Base64. */
async function unpack() {
  const text = atob(document.getElementById('data').textContent.trim());
  const bytes = Uint8Array.from(text, (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Response(stream).json();
}
