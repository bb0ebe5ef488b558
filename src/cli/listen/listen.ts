import type { EventType } from '../../model/event.ts'
import { systemClock } from '../../os/clock.ts'
import { systemRandom } from '../../os/random.ts'
import { mintSigningSecret } from '../../webhooks/sign.ts'
import { usageFault } from '../failure.ts'
import { inOffice } from '../office.ts'
import { requireOrganization } from '../org.ts'
import { complain, paintFor, print, printJson } from '../print.ts'
import { untilSignal } from '../until-signal.ts'
import type { Arrival } from './arrival.ts'
import { createForwarding } from './forward.ts'
import { fromServer } from './from-server.ts'
import { fromStore } from './from-store.ts'
import { isNear } from './near.ts'
import { recordOfPosted, tellArrival, tellPosted } from './tell.ts'

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
}

/** Shows events as they happen until Ctrl-C (130) or SIGTERM (0), and posts them where that is wanted. On standard output
 *  are events and posts only, with `json` a line of JSON each: the envelope, or what has `forwarded` in it. */
export async function listen(options: Options): Promise<number> {
  const forwardTo = forwardUrl(options.forwardTo)
  const secret = signingSecret(options.secret)
  const ended = untilSignal()
  const stop = new AbortController()
  void ended.then(() => stop.abort())
  const { signal } = stop
  const { clock, random } = { clock: systemClock.steady, random: systemRandom }
  const paint = paintFor(process.env, process.stdout.isTTY)
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
            else print(tellPosted(posted, systemClock.now(), paint))
          },
        })

  const show = async (arrivals: AsyncIterable<Arrival>, where: string) => {
    complain(`Listening to ${where}. Ctrl-C ends it.`)
    if (forwardTo !== null) complain(`Posting to ${forwardTo.href}, signed with ${paint.accent(secret)}`)
    for await (const arrival of arrivals) {
      print(options.json ? arrival.body : tellArrival(arrival, paint))
      await forwarding?.take(arrival)
    }
  }

  const types = options.events ?? null
  const { url, after } = options
  if (url !== undefined) {
    const wanted = { url, key: requireKey(url, options.apiKey), types, after }
    const onBreak = (reason: string, waitMs: number) =>
      complain(`${reason}; trying again in ${(waitMs / 1000).toFixed(1)} s`)
    await show(fromServer(wanted, { clock, random, signal, onBreak }), url.origin)
  } else {
    await inOffice(options.config, async ({ config, store }) => {
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
    'forward-to: expected https://, or http:// to localhost or a private address, such as http://localhost:3000/hook',
  )
}

function signingSecret(given: string | undefined): string {
  if (given === undefined) return mintSigningSecret(systemRandom)
  if (/^whsec_[A-Za-z0-9+/]{20,}={0,2}$/.test(given)) return given
  throw usageFault('secret: expected whsec_ and base64, as a webhook has it')
}

/** The key goes with each request: not in clear to somewhere else. */
function requireKey(url: URL, key: string | undefined): string {
  if (!isNear(url)) throw usageFault('url: a key is sent over https only, or to this machine or a private address')
  if (key !== undefined && /^svc_(?:live|test)_[0-9A-Za-z]+$/.test(key)) return key
  throw usageFault('api-key: expected an API key with the permission read, in POSTRIDER_API_KEY or --api-key')
}
