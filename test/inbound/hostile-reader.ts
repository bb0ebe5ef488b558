import { readdirSync, readFileSync, readlinkSync, writeSync } from 'node:fs'
import { restartRestricted } from '../../src/os/sandbox/confine.ts'

/** A compromised reader, in a real child process under the real filter. It does what a mail's `X-Do` header says,
 *  and reads every other mail as ours does, unless its second argument is `reads-nothing`: it then starts much faster. */
const [turn, skill, ...args] = process.argv.slice(2)
if (turn === 'first') restartRestricted(['second', skill!, ...args], ['/'])

const atStart = {
  env: Object.keys(process.env).filter((name) => !name.startsWith('BUN_JSC_')),
  files: readdirSync('/proc/self/fd').map((fd) => [fd, linkOf(fd)]),
  status: readFileSync('/proc/self/status', 'utf8'),
}
// Loaded only now, because what is loaded before the restart is loaded twice.
const { serveConfined } = await import('../../src/os/sandbox/child-side.ts')
const readerInside = skill === 'reads-nothing' ? null : await loadReader()
await serveConfined(args, (post) => {
  const take = readerInside?.(post)
  return (message) => {
    const { kind, id, job } = message as { kind: string; id: number; job: { raw: Uint8Array; jobId: number } }
    if (kind === 'start' && take === undefined) return post({ kind: 'ready' })
    const what = kind === 'job' ? /X-Do: ([a-z-]+)/.exec(Buffer.from(job.raw).toString())?.[1] : undefined
    if (what === undefined) return take?.(message)
    post({ kind: 'at_work', job: id })
    HOSTILE[what]!({ post, id, jobId: job.jobId })
  }
})

async function loadReader() {
  const { warmUp } = await import('../../src/receiving/inbound/warm-up.ts')
  await warmUp()
  return (await import('../../src/receiving/inbound/reader.ts')).readerInside
}

interface Deed {
  post: (message: unknown) => void
  id: number
  jobId: number
}

const READING = {
  verdicts: { spf: 'pass', dkim: 'pass', dmarc: 'pass', arc: 'none' },
  dmarcPolicy: 'none',
  dmarcReason: null,
  head: {
    from: '',
    fromHeader: '',
    subject: '',
    messageId: '',
    hops: 0,
    answers: [],
    autoSubmitted: false,
    loop: null,
  },
  parseError: null,
  forwards: [],
}
/** A blob of 16 kB that unpacks to 500 MB: a small frame, whose header states only its own size, then fifty large ones.
 *  RFC 8878 §3.1 */
const bomb = () => {
  const small = Bun.zstdCompressSync(Buffer.from('x'))
  const large = Bun.zstdCompressSync(Buffer.alloc(10_000_000))
  const packed = Buffer.concat([small, ...Array<Buffer>(50).fill(large)])
  const blob = Buffer.concat([Buffer.alloc(5), packed])
  blob[0] = 3
  blob.writeUInt32BE(Bun.hash.crc32(packed), 1)
  return new Uint8Array(blob)
}
const lookup = (jobId: number, name: string, id = 1) => ({
  kind: 'request',
  id,
  jobId,
  what: 'lookup',
  type: 'TXT',
  name,
})
const sign = (jobId: number, text: string, seal = 0) => ({
  kind: 'request',
  id: 1,
  jobId,
  what: 'sign',
  seal,
  text: new Uint8Array(Buffer.from(text)),
})
const SEAL_TEXT = 'from:x@x\r\narc-message-signature:i=1; a=rsa-sha256; d=ours.test; s=s1; h=from; bh=x; b='

const HOSTILE: Record<string, (deed: Deed) => unknown> = {
  tell: ({ post, id }) => post({ kind: 'report', id, atStart }),
  loop: () => {
    for (;;);
  },
  'throw-later': () => {
    setTimeout(() => {
      throw new Error('left behind')
    }, 5)
  },
  eat: () => {
    const eaten: unknown[] = []
    for (;;) eaten.push({ a: eaten.length, b: [eaten.length] })
  },
  'eat-buffers': () => {
    const eaten: Uint8Array[] = []
    for (;;) {
      try {
        eaten.push(new Uint8Array(50_000_000).fill(1))
      } catch {}
    }
  },
  'no-message': ({ post }) => post(7),
  'unknown-kind': ({ post }) => post({ kind: 'please' }),
  'answer-to-nothing': ({ post, id }) => post({ kind: 'answer', id: id + 1_000, answer: {} }),
  'answer-of-another-kind': ({ post, id }) =>
    post({ kind: 'answer', id, answer: { kind: 'attachments', contents: [] } }),
  'answer-without-parts': ({ post, id }) => post({ kind: 'answer', id, answer: { kind: 'mail' } }),
  'answer-with-a-bomb': ({ post, id }) => {
    const blob = bomb()
    post({ kind: 'answer', id, answer: { kind: 'mail', bugs: [], reading: { ...READING, raw: blob, parsed: blob } } })
  },
  'lookup-for-another': ({ post, jobId }) => post(lookup(jobId + 1_000, 'a.test')),
  'lookup-of-nonsense': ({ post, jobId }) => post(lookup(jobId, 'a'.repeat(100_000))),
  'lookup-flood': ({ post, jobId }) => {
    for (let at = 0; ; at++) post(lookup(jobId, `n${at}.flood.test`, at))
  },
  'sign-dkim': ({ post, jobId }) => post(sign(jobId, SEAL_TEXT.replace('arc-message-signature', 'dkim-signature'))),
  'sign-for-another-domain': ({ post, jobId }) => post(sign(jobId, SEAL_TEXT.replace('ours.test', 'bank.test'))),
  'sign-with-another-key': ({ post, jobId }) => post(sign(jobId, SEAL_TEXT, 1)),
  'sign-again-and-again': ({ post, jobId }) => {
    for (let at = 0; at < 3; at++) post(sign(jobId, SEAL_TEXT))
  },
  'large-message-flood': ({ post }) => {
    const text = 'x'.repeat(2_000_000)
    for (;;) post({ kind: 'confined', text })
  },
  'large-ready-flood': ({ post }) => {
    const text = 'x'.repeat(2_000_000)
    for (;;) post({ kind: 'ready', text })
  },
  'stderr-flood': () => {
    const text = Buffer.alloc(65_536, 'x')
    for (;;) {
      try {
        writeSync(2, text)
      } catch {} // full for now
    }
  },
  'message-flood': ({ post }) => {
    for (;;) post({ kind: 'ready' })
  },
}

function linkOf(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`)
  } catch {
    return ''
  }
}
