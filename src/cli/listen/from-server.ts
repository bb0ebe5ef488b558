import { backoffMs } from '../../os/backoff.ts'
import type { Clock } from '../../os/clock.ts'
import type { Random } from '../../os/random.ts'
import { VERSION } from '../../version.ts'
import { CommandFailure } from '../failure.ts'
import { harmless } from '../print.ts'
import { type Arrival, arrivalOf } from './arrival.ts'
import { createEventParser } from './event-parser.ts'

/** Events of a server as they happen, over HTTP, until the signal.
 *
 *  A connection that breaks, or says nothing for three of its heartbeats, is made again with the last id that was seen:
 *  nothing is missed and nothing comes twice. Throws what trying again cannot mend: a key that is refused, an event to
 *  begin behind that is not kept any more, a server that is something else. */
export async function* fromServer(
  wanted: { url: URL; key: string; types: readonly string[] | null; after: string | undefined },
  world: { clock: Clock; random: Random; signal: AbortSignal; onBreak: (reason: string, waitMs: number) => void },
): AsyncGenerator<Arrival> {
  const { clock, random, signal, onBreak } = world
  let after = wanted.after
  for (let failures = 0; !signal.aborted; ) {
    let reason = 'the server ended the stream'
    const startedAt = clock.now()
    let askedMs = 0
    try {
      const connection = await connect(wanted, after, world)
      if ('refused' in connection) ({ refused: reason, askedMs } = connection)
      else
        for await (const { events, lastId } of connection.read()) {
          if (events.length > 0) failures = 0
          for (const event of events) yield arrivalOf(event) ?? noEvents()
          // An organization without events has no id to tell: then whatever comes is new.
          if (lastId !== null) after = lastId || after || ''
        }
    } catch (error) {
      if (error instanceof CommandFailure) throw error
      reason = wordsOf(error)
    }
    if (signal.aborted) return
    // One that lived is no failure; one that ends as soon as it is made is waited for longer and longer.
    failures = clock.now() - startedAt > LIVED_MS ? 1 : failures + 1
    const waitMs = Math.max(backoffMs(WAITS_SECONDS, failures, JITTER, random), askedMs)
    onBreak(reason, waitMs)
    await clock.sleep(waitMs, signal)
  }
}

const WAITS_SECONDS = [0.5, 1, 2, 5, 10, 30]
/** So that those who lost the same server do not come back all at once. */
const JITTER = 0.5
/** Three heartbeats (api/streams.ts). */
const SILENCE_MS = 45_000
const LIVED_MS = 20_000
const MAX_ASKED_MS = 60_000

async function connect(
  { url, key, types }: Parameters<typeof fromServer>[0],
  after: string | undefined,
  { clock, signal }: Pick<Parameters<typeof fromServer>[1], 'clock' | 'signal'>,
) {
  const lost = new AbortController()
  const quiet = watchSilence(clock, () => lost.abort(new Error('the server says nothing')))
  const answer = await fetch(streamUrl(url, types, after), {
    headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream', 'user-agent': `Postrider/${VERSION}` },
    redirect: 'error',
    signal: AbortSignal.any([signal, lost.signal]),
  }).catch((error) => {
    quiet.end()
    throw error
  })
  if (!answer.ok) {
    quiet.end()
    return refusal(answer)
  }
  return {
    async *read() {
      const parser = createEventParser()
      try {
        for await (const bytes of streamOf(answer)) {
          quiet.heard()
          const events = parser.push(bytes)
          yield { events, lastId: parser.lastId() }
        }
      } finally {
        quiet.end()
        lost.abort()
      }
    },
  }
}

function streamUrl(base: URL, types: readonly string[] | null, after: string | undefined): URL {
  const url = new URL(base)
  url.pathname = `${withoutVersion(base.pathname)}/v1/events/stream`
  if (types !== null) url.searchParams.set('types', types.join(','))
  if (after !== undefined) url.searchParams.set('after', after)
  return url
}

/** Path of the server's address → the same without final slashes and without a final `/v1`. */
function withoutVersion(path: string): string {
  const bare = withoutFinalSlashes(path)
  return bare.endsWith('/v1') ? withoutFinalSlashes(bare.slice(0, -'/v1'.length)) : bare
}

function withoutFinalSlashes(path: string): string {
  let end = path.length
  while (path[end - 1] === '/') end--
  return path.slice(0, end)
}

function streamOf(answer: Response): ReadableStream<Uint8Array> {
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream')
  if (isStream && answer.body !== null) return answer.body
  return noEvents()
}

function noEvents(): never {
  throw new CommandFailure('url: what answers there tells no events of Postrider')
}

/** What may pass is a reason to try again; what will not is thrown. */
async function refusal(answer: Response): Promise<{ refused: string; askedMs: number }> {
  const body = (await answer.json().catch(() => ({}))) as { error?: { message?: string } }
  const message = harmless(body.error?.message ?? 'no reason was given')
  const said = `the server answers ${answer.status}: ${message}`
  if (answer.status !== 429 && answer.status < 500) throw new CommandFailure(said)
  const askedMs = Number(answer.headers.get('retry-after') ?? 0) * 1000
  return { refused: said, askedMs: askedMs > 0 ? Math.min(askedMs, MAX_ASKED_MS) : 0 }
}

/** Calls `onSilence` once nothing was heard for so long. */
function watchSilence(clock: Clock, onSilence: () => void) {
  const end = new AbortController()
  let heardAt = clock.now()
  const watch = async () => {
    while (!end.signal.aborted) {
      const leftMs = heardAt + SILENCE_MS - clock.now()
      if (leftMs <= 0) return onSilence()
      await clock.sleep(leftMs, end.signal)
    }
  }
  void watch()
  return {
    heard: () => {
      heardAt = clock.now()
    },
    end: () => end.abort(),
  }
}

/** Bun's errors carry a code, and say the rest in a sentence of their own. */
function wordsOf(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown }
  if (code === 'ConnectionRefused' || code === 'ECONNREFUSED') return 'nothing answers there'
  return String(message ?? error)
}
