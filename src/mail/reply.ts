import { cutText } from './cut-text.ts'

/** An SMTP reply: `text` holds its lines joined by `\n`, without reply code and enhanced status code. RFC 5321 §4.2,
 *  RFC 2034, RFC 3463 */
export interface Reply {
  code: number
  enhanced: string | null
  text: string
}

/** One line of a reply; `isLast` is false for `250-…`. */
export interface ReplyLine {
  code: number
  enhanced: string | null
  text: string
  isLast: boolean
}

/** Reads decoded text of one connection, in chunks of any size. */
export interface ReplyReader {
  push(chunk: string): Reply[]
  /** The last line since the last whole reply that was neither empty nor part of a reply; null if none. */
  strayLine(): string | null
}

export type ReplyFaultReason = 'not_a_reply' | 'too_long'

/** The peer does not follow SMTP. `replies` are the complete replies before the fault in the same push, so that a
 *  pipelining caller keeps them. */
export class ReplyFault extends Error {
  override readonly name = 'ReplyFault'
  constructor(
    readonly reason: ReplyFaultReason,
    readonly line: string,
    readonly replies: readonly Reply[],
  ) {
    super(`${FAULT_WORDS[reason]}: ${JSON.stringify(line.slice(0, 100))}`)
  }
}

/** A line without its line end → its parts; null if it is not a reply line. Accepts reply codes 200–599. An enhanced
 *  status code counts only if its class equals the first digit (RFC 2034 §4), with or without the leading `#` or
 *  trailing `:` that some filters add. Never throws. */
export function parseReplyLine(line: string): ReplyLine | null {
  const match = REPLY_LINE.exec(line)
  if (match === null) return null
  const code = Number(match[1])
  const rest = match[3] ?? ''
  const status = ENHANCED.exec(rest)
  const enhanced = status?.[1]
  if (status === null || enhanced === undefined || enhanced[0] !== line[0]) {
    return { code, enhanced: null, text: rest, isLast: match[2] !== '-' }
  }
  return { code, enhanced, text: rest.slice(status[0].length), isLast: match[2] !== '-' }
}

/** Creates the reader of one connection's replies. Lines end in CRLF or LF. `push` returns the replies completed by the
 *  chunk, often none. As for Postfix, the code of its last line counts, and lines that are empty or no reply are skipped,
 *  at most 20 for each reply: a fault would repeat a mail that the server has taken. `maxBytes` limits one reply with all
 *  its lines (default 64 KiB: RFC 5321 asks for 512 per line, so over a hundred lines; it stops a peer that sends `250-`
 *  forever). Throws ReplyFault beyond a limit and on a code that SMTP does not have; every later push throws it again. */
export function createReplyReader(options: { maxBytes?: number } = {}): ReplyReader {
  const maxBytes = options.maxBytes ?? 65_536
  let pending = '' // the unfinished line; never searched again, so a slow peer costs linear time
  let sizeBytes = 0 // of the unfinished reply, this line included
  let lines: ReplyLine[] = []
  let skipped = 0 // lines since the last whole reply
  let stray: string | null = null
  let fault: ReplyFault | null = null

  return {
    strayLine: () => stray,
    push(chunk) {
      if (fault !== null) throw fault
      const replies: Reply[] = []
      const fail = (reason: ReplyFaultReason, line: string) => {
        fault = new ReplyFault(reason, line, replies)
        pending = ''
        return fault
      }
      for (let start = 0; start < chunk.length; ) {
        const newline = chunk.indexOf('\n', start)
        const end = newline < 0 ? chunk.length : newline + 1
        sizeBytes += end - start
        if (sizeBytes > maxBytes) throw fail('too_long', pending + chunk.slice(start, start + 100))
        pending += chunk.slice(start, end)
        start = end
        if (newline < 0) break

        const text = pending.endsWith('\r\n') ? pending.slice(0, -2) : pending.slice(0, -1)
        pending = ''
        const line = parseReplyLine(text)
        if (line === null) {
          if (!EMPTY_LINE.test(text)) stray = text
          if (++skipped > MAX_SKIPPED || OTHER_CODE.test(text))
            throw fail(stray === null ? 'too_long' : 'not_a_reply', stray ?? text)
          continue
        }
        lines.push(line)
        if (!line.isLast) continue
        replies.push(joinLines(lines, line.code))
        lines = []
        sizeBytes = 0
        skipped = 0
        stray = null
      }
      return replies
    },
  }
}

/** A reply → one line such as `550 5.1.1 No such user`, of at most LONGEST_LINE characters: line ends become a space; control
 *  characters and direction marks are removed. Never throws. */
export function formatReply(reply: Reply): string {
  const text = reply.text
    .replace(/[\r\n\t]+/g, ' ')
    .replace(UNPRINTABLE, '')
    .trim()
  const line = [reply.code, reply.enhanced, text].filter((part) => part !== null && part !== '').join(' ')
  return cutText(line, LONGEST_LINE)
}

/** Attempts and events have it many times over. As of the diagnostics in reports (receiving/feedback/judgement.ts); real
 *  replies have some hundred characters. */
const LONGEST_LINE = 2_000

const MAX_SKIPPED = 20
const EMPTY_LINE = /^[ \t\r]*$/
const OTHER_CODE = /^\d{3}(?:[ \t-]|$)/
const REPLY_LINE = /^([2-5]\d\d)(?:([ \t-])(.*))?$/s
const ENHANCED = /^#?([245]\.\d{1,3}\.\d{1,3})(?![\w.])[:]?[ \t]*/
const UNPRINTABLE = /[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g
const FAULT_WORDS: Record<ReplyFaultReason, string> = {
  not_a_reply: 'peer sent a line that is not an SMTP reply',
  too_long: 'peer sent an SMTP reply that is too long',
}

function joinLines(lines: readonly ReplyLine[], code: number): Reply {
  const enhanced = lines.find((line) => line.enhanced?.[0] === `${code}`[0])?.enhanced ?? null
  return { code, enhanced, text: lines.map((line) => line.text).join('\n') }
}
