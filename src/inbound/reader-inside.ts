import { createHash } from 'node:crypto'
import { closeSync, readSync } from 'node:fs'
import { readReport } from '../feedback/content.ts'
import { parseAttachments } from '../mail/parse.ts'
import { systemClock } from '../os/clock.ts'
import { type JobContext, servePool } from '../os/pool-worker.ts'
import { BUG_CHARACTERS } from './answer-check.ts'
import type { RawMail, ReaderAnswer, ReaderJob, ReaderSettings } from './inbound-result.ts'
import { LARGE_BYTES, readMail } from './read.ts'
import { createRequests, type Requests } from './reader-requests.ts'

/** The inside of a reader thread or process: takes jobs, posts answers, and requests DNS and signatures from the main
 *  thread. Returns the message handler. Handles many mails at once, since each waits for DNS. */
export function readerInside(post: (message: unknown, transfer?: ArrayBuffer[]) => void): (message: unknown) => void {
  const requests = createRequests(post, systemClock.steady)
  const takeJob = servePool<ReaderJob, ReaderAnswer>(post, (job, context, settings) =>
    perform(job, context, settings as ReaderSettings, requests).finally(() => tidyAfter(job.raw.byteLength)),
  )
  return (message) => {
    if (!requests.onReply(message)) takeJob(message)
  }
}

async function perform(
  job: ReaderJob,
  context: JobContext,
  settings: ReaderSettings,
  requests: Requests,
): Promise<ReaderAnswer> {
  const raw = wholeOf(job.raw)
  switch (job.kind) {
    case 'mail': {
      const bugs: string[] = []
      const result = await readMail(
        { ...job, raw },
        {
          settings,
          resolver: requests.resolver(job.jobId, context.working),
          clock: systemClock,
          sign: (seal, text) => requests.sign(job.jobId, seal, text),
          onWork: context.working,
          onBug: (error) => bugs.push(textOf(error)),
        },
      )
      context.handOver(...[result.raw, result.parsed, ...result.forwards].map(({ buffer }) => buffer))
      return { kind: 'mail', result, bugs }
    }
    case 'report':
      return {
        kind: 'report',
        content: readReport(raw, job.returnPath),
        digest: new Uint8Array(createHash('sha256').update(raw).digest()),
      }
    case 'attachments': {
      // Stored mail has three more fields than the mail that was parsed; its parts are the same.
      const contents = await parseAttachments(raw, new Promise(() => {}))
      return { kind: 'attachments', contents }
    }
  }
}

/** Reads the file from its start, whatever its current position. In a process the descriptor is ours to close. Throws a
 *  disk error. */
function wholeOf(raw: RawMail | Uint8Array): Uint8Array<ArrayBuffer> {
  if (raw instanceof Uint8Array) return raw as Uint8Array<ArrayBuffer>
  try {
    const whole = new Uint8Array(raw.byteLength)
    for (let at = 0; at < whole.length; ) {
      const bytesRead = readSync(raw.fd, whole, at, whole.length - at, at)
      if (bytesRead === 0) throw new Error(`a mail of ${whole.length} bytes ends after ${at}`)
      at += bytesRead
    }
    return whole
  } finally {
    if (Bun.isMainThread) closeSync(raw.fd)
  }
}

/** Collects a large mail's garbage before the next mail, in a later turn when nothing refers to it. */
function tidyAfter(byteLength: number): void {
  if (byteLength > LARGE_BYTES) setImmediate(() => Bun.gc(true))
}

const textOf = (error: unknown) =>
  (error instanceof Error ? (error.stack ?? error.message) : String(error)).slice(0, BUG_CHARACTERS)
