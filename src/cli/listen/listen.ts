import { mintSigningSecret } from '../../events/webhooks/sign.ts'
import type { EventType } from '../../model/event.ts'
import { isNear } from '../../net/near-url.ts'
import { systemClock } from '../../os/clock.ts'
import { systemRandom } from '../../os/random.ts'
import { withCliContext } from '../cli-context.ts'
import { usageFault } from '../failure.ts'
import { requireOrganization } from '../places.ts'
import { colorsFor, print, printError, printJson } from '../print.ts'
import { keyIn, requireKey } from '../server-access.ts'
import { untilSignal } from '../until-signal.ts'
import type { Arrival } from './arrival.ts'
import { formatArrival, formatPosted, recordOfPosted } from './format.ts'
import { createForwarding } from './forward.ts'
import { fromServer } from './from-server.ts'
import { fromStore } from './from-store.ts'

interface Options {
  config: string
  json?: true
  forwardTo?: string
  events?: EventType[]
  after?: string
  secret?: string
  org?: string
  url?: URL
  apiKey?: string
  keyFile?: string
}

/** Shows events live until Ctrl-C (returns 130) or SIGTERM (returns 0), and posts them if `forwardTo` is set. Standard
 *  output contains only events and attempts to post. With `json` each is one line of JSON: the envelope, or a record
 *  with `forwarded`. Throws CommandFailure for invalid options and for errors that a retry cannot fix (from-server.ts,
 *  from-store.ts). */
export async function listen(options: Options): Promise<number> {
  const forwardTo = forwardUrl(options.forwardTo)
  const secret = signingSecret(options.secret)
  const ended = untilSignal()
  const stop = new AbortController()
  void ended.then(() => stop.abort())
  const { signal } = stop
  const { clock, random } = { clock: systemClock.steady, random: systemRandom }
  const colors = colorsFor()
  const forwarding =
    forwardTo === null
      ? null
      : createForwarding({
          to: forwardTo,
          secret,
          clock: systemClock,
          random,
          signal,
          onPosted: (posted) => {
            if (options.json) printJson(recordOfPosted(posted))
            else print(formatPosted(posted, systemClock.now(), colors))
          },
        })

  const show = async (arrivals: AsyncIterable<Arrival>, where: string) => {
    printError(`Listening to ${where}. Press Ctrl-C to stop.`)
    if (forwardTo !== null) printError(`Posting to ${forwardTo.href}, signed with ${colors.accent(secret)}`)
    for await (const arrival of arrivals) {
      print(options.json ? arrival.body : formatArrival(arrival, colors))
      await forwarding?.take(arrival)
    }
  }

  const types = options.events ?? null
  const { url, after, keyFile } = options
  if (url !== undefined) {
    const wanted = { url, key: requireKey(url, keyFile === undefined ? options.apiKey : keyIn(keyFile)), types, after }
    const onBreak = (reason: string, waitMs: number) =>
      printError(`${reason}; reconnecting in ${(waitMs / 1000).toFixed(1)} s`)
    await show(fromServer(wanted, { clock, random, signal, onBreak }), url.origin)
  } else {
    await withCliContext(options.config, async ({ config, store }) => {
      const { id, name } = await requireOrganization(options.org, store)
      const wanted = { organizationId: id, types, after }
      await show(fromStore(wanted, { store, clock, signal }), `${name} in ${config.dataDir}`)
    })
  }
  return ended
}

function forwardUrl(text: string | undefined): URL | null {
  if (text === undefined) return null
  const url = URL.parse(text)
  if (url !== null && isNear(url) && url.username === '') return url
  throw usageFault(
    'forward-to: expected an https:// URL, or http:// to localhost or a private address, such as http://localhost:3000/hook',
  )
}

function signingSecret(given: string | undefined): string {
  if (given === undefined) return mintSigningSecret(systemRandom)
  if (/^whsec_[A-Za-z0-9+/]{20,}={0,2}$/.test(given)) return given
  throw usageFault('secret: expected whsec_ followed by base64, as created for a webhook')
}
