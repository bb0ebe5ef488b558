/** What an HTTPS peer may send before the request ends: each number with the phrase that the attempt then records. A phrase
 *  holds neither address nor text of the peer. An ordinary answer has one head of 200 to 2,000 bytes in one or two reads. */
export const ANSWER_LIMITS = {
  /** Answers 1xx before the final one (RFC 9110 §15.2). Go's net/http stops at five. */
  interimAnswers: { most: 5, phrase: 'too many interim answers' },
  /** Status line and headers of one answer, in bytes: what Node takes. */
  headBytes: { most: 16_384, phrase: 'answer headers are too large' },
  /** The same of all answers together, interim ones included. */
  allHeadBytes: { most: 32_768, phrase: 'answer headers are too large' },
  /** Headers of one answer; trailers count as headers. Apache takes as many of a request. */
  headerLines: { most: 100, phrase: 'answer has too many headers' },
  /** One status line, header or trailer, in bytes. */
  lineBytes: { most: 8_192, phrase: 'answer headers are too large' },
  /** One line with the size of a chunk, extensions included, in bytes (RFC 9112 §7.1.1). */
  chunkLineBytes: { most: 256, phrase: 'answer chunks are malformed' },
  /** Chunks of one answer: the 4 KiB that we read of one need 4,096 chunks of one byte. */
  chunks: { most: 8_192, phrase: 'answer has too many chunks' },
  /** Reads from the connection up to the end of one answer. 256 KiB in packets of 1,400 bytes are 190. */
  reads: { most: 2_048, phrase: 'answer comes in too many pieces' },
} as const satisfies Record<string, { most: number; phrase: string }>

/** What else is wrong with an answer. */
export const ANSWER_FAULTS = {
  notHttp: 'answer is not HTTP',
  /** 101: nobody asked for another protocol (RFC 9110 §15.2.2). */
  switches: 'answer switches protocols',
  /** Content-Length and Transfer-Encoding together, or more than one length (RFC 9112 §6.3). */
  lengths: 'answer has conflicting lengths',
  chunks: 'answer chunks are malformed',
  closed: 'connection closed',
} as const

/** The time limits of one request, beside the one that the caller gives for all of it. */
export const CONNECT_LIMITS = {
  /** TCP and TLS handshake with one address; the third SYN has gone out by then. A dead address leaves time for the next. */
  connectMs: 10_000,
  /** Addresses of one name that are tried. A name with more addresses is no webhook but an attempt to keep us busy. */
  addresses: 8,
  /** Kept connections without a request, over all endpoints; the longest unused one is closed for a new one. */
  idleConnections: 256,
  /** A kept connection is closed before the firewalls between us drop its state. */
  idleMs: 30_000,
} as const

/** Messages between the main thread and the thread of the exchanges: with fewer than `few` requests under way each leaves in
 *  the same turn of the event loop, with more those of `waitMs` share one. */
export const BATCHING = { few: 32, waitMs: 1 } as const
