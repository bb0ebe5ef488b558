/** Limits on what an HTTPS peer may send, each with the phrase that the attempt then records. A phrase contains
 *  neither an address nor text of the peer. An ordinary response has one head of 200 to 2,000 bytes in one or two
 *  reads. */
export const ANSWER_LIMITS = {
  /** 1xx responses before the final one (RFC 9110 §15.2). Go's net/http allows five. */
  interimAnswers: { most: 5, phrase: 'too many interim responses' },
  /** Status lines, headers and trailers of a response and its interim responses together, in bytes: gateways with long
   *  policies and many cookies send over 16 KiB. */
  headBytes: { most: 98_304, phrase: 'response headers are too large' },
  /** Lines of headers of one response; also of its trailers. */
  headerLines: { most: 1_000, phrase: 'response has too many headers' },
  /** One chunk-size line with its extensions, in bytes (RFC 9112 §7.1.1). */
  chunkLineBytes: { most: 256, phrase: 'response chunks are malformed' },
  /** Chunks of one response: the 4 KiB that we read need 4,096 chunks of one byte. */
  chunks: { most: 8_192, phrase: 'response has too many chunks' },
  /** Reads from the connection up to the end of one response. 256 KiB in packets of 1,400 bytes are 190. */
  reads: { most: 2_048, phrase: 'response arrives in too many pieces' },
} as const satisfies Record<string, { most: number; phrase: string }>

/** Limits on a response that is a file, besides ANSWER_LIMITS. */
export const FILE_LIMITS = {
  /** A file up to this size needs no reservation of memory, like a request body (web/api/read.ts). */
  smallBytes: 262_144,
  /** Further reads for each of so many bytes of the largest file: a TLS record carries at least a packet of 1,200 bytes. */
  bytesPerRead: 512,
  /** Further chunks for each of so many bytes received: servers write chunks of some KiB. */
  bytesPerChunk: 128,
  /** Responses with a Location header to follow. */
  redirects: 3,
} as const

/** Other faults of a response. */
export const ANSWER_FAULTS = {
  notHttp: 'response is not HTTP',
  /** 101: no other protocol was requested (RFC 9110 §15.2.2). */
  switches: 'response switches protocols',
  /** Content-Length and Transfer-Encoding together, or lengths that differ (RFC 9112 §6.3). */
  lengths: 'response has conflicting lengths',
  chunks: 'response chunks are malformed',
  closed: 'connection closed',
  /** Only for a file: longer than wanted, compressed, or without a length, so that its end cannot be checked. */
  large: 'response is too large',
  coded: 'response is compressed',
  endless: 'response has no length',
  slow: 'response took too long to read',
  /** Not the fault of the peer: no memory became free, our thread was ended, or it ended by an error of ours. */
  memory: 'short of memory',
  interrupted: 'interrupted',
  died: 'interrupted by an internal error',
} as const

/** Limits of one request, besides its total time limit from the caller. */
export const CONNECT_LIMITS = {
  /** TCP and TLS handshake with one address; by then the third SYN was sent. A dead address leaves time for the next
   *  one. */
  connectMs: 10_000,
  /** Addresses tried per name. A name with more addresses is not a webhook but an attempt to waste our time. */
  addresses: 8,
  /** Idle connections over all endpoints; a new one replaces the one that was unused longest. */
  idleConnections: 256,
  /** A kept connection is closed before firewalls on the path drop its state. */
  idleMs: 30_000,
} as const

/** Batching of messages between the main thread and the HTTPS thread. With fewer than `few` requests in progress,
 *  each is sent in the same turn of the event loop; with more, those of `waitMs` are sent together. */
export const BATCHING = { few: 32, waitMs: 1 } as const
