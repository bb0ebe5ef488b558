import { type Config, makeConfig, type Setting } from '../../src/config/load.ts'
import { createEventStream, type EventStream } from '../../src/events/event-stream/event-stream.ts'
import { createForwardLinks } from '../../src/mail/forward-link.ts'
import { createRecipientParts, NO_RECIPIENT_PARTS } from '../../src/mail/recipient-parts.ts'
import { createReplyAddresses } from '../../src/mail/reply-address.ts'
import { createVerp, type Verp } from '../../src/mail/verp.ts'
import type { Plan } from '../../src/model/organization.ts'
import type { Resolver } from '../../src/net/dns/resolver.ts'
import type { Download } from '../../src/net/https/download.ts'
import type { Post } from '../../src/net/https/requests.ts'
import { createHealthWatch, type HealthWatch } from '../../src/operating/health/watch.ts'
import { systemClock } from '../../src/os/clock.ts'
import { createMintId, type MintId } from '../../src/os/ids.ts'
import { silentLog } from '../../src/os/log.ts'
import { ampleMemory } from '../../src/os/memory.ts'
import { createNotifier, type Notifier } from '../../src/os/notifier.ts'
import type { Random } from '../../src/os/random.ts'
import { createPreparer } from '../../src/sending/outbound/prepare.ts'
import type { Forwarding } from '../../src/sending/submission/forwarding.ts'
import type { Compose } from '../../src/sending/submission/signing.ts'
import type { Submission } from '../../src/sending/submission/submission.ts'
import { createOperations, type OperationContext, type Services, withoutDelivery } from '../../src/server/operations.ts'
import { inboundAttachmentHere, parsingHere } from '../../src/server/parsing/parsing.ts'
import { openForwarding, openRemoteAttachments, openSubmission, openUserMail } from '../../src/server/submission.ts'
import { openStore } from '../../src/storage/sqlite/open.ts'
import type { Store } from '../../src/storage/store.ts'
import type { Operation } from '../../src/web/api/operation.ts'
import { type Api, createApi } from '../../src/web/api/server.ts'
import { createStreams, type Streams } from '../../src/web/api/streams.ts'
import { undocumented } from './documented.ts'
import { textOf } from './event-stream.ts'
import { createFakeClock, type FakeClock } from './fake-clock.ts'
import { openMemoryStore } from './migrated-store.ts'
import { createTestRandom } from './random.ts'
import { silentResolver } from './silent-resolver.ts'

/** 2026-11-21T12:00:00.000Z */
export const START = 1_795_262_400_000

/** The public URL in links of mail. */
export const PUBLIC_URL = 'https://mail.example.com'

type ApiOptions = Parameters<typeof createApi>[0]

/** What a test replaces in the assembly. */
export interface AssemblyOptions
  extends Partial<
    Pick<
      ApiOptions,
      | 'pages'
      | 'log'
      | 'isReady'
      | 'origin'
      | 'hasSessions'
      | 'plaintextGuard'
      | 'watchDescriptors'
      | 'hstsSeconds'
      | 'memory'
      | 'clientAddress'
    >
  > {
  config: Config
  bodyBytes: number
  /** A folder that outlives the API; in memory by default. */
  dataDir?: string
  /** The same at every run by default, so a second start on one folder needs another. */
  random?: Random
  /** Limits in the store, for all organizations; unlimited by default. */
  limits?: Plan
  wrapStore?: (store: Store) => Store
  /** Replaces all operations of the server. */
  operations?: (deps: { store: Store; clock: FakeClock; mintId: MintId }) => Operation[]
  compatApis?: (operations: Operation[]) => ApiOptions['compatApis']
  settings?: Setting[]
  forwarding?: Forwarding
  resolver?: Resolver
  health?: HealthWatch
  postAlert?: Post
  /** Downloads files; without it no host is reachable. */
  download?: Download
  canaries?: Services['canaries']
  streams?: { maxPerKey?: number; maxPerOrganization?: number; max?: number }
  /** Called after each commit with events, with the organizations concerned. */
  onEvents?: (organizationIds: ReadonlySet<string>) => void
}

/** The API of a server without engines and without a socket: a queued message stays queued. */
export interface AssembledApi {
  api: Api
  operations: Operation[]
  submission: Submission
  store: Store
  clock: FakeClock
  random: Random
  mintId: MintId
  streams: Streams
  eventStream: EventStream
  notifier: Notifier
  verp: Verp
  trackingSecret: Uint8Array
  /** How often each engine was woken. */
  woken: { outbound: number; webhooks: number; inbound: number }
  /** Sends a request without a socket. Throws if its operation does not document the response. */
  fetch(method: string, path: string, init: { headers: Headers; body?: string | Uint8Array }): Promise<Answered>
  close(): Promise<void>
}

export interface Answered {
  status: number
  headers: Headers
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies of every shape
  body: any
}

/** Assembles the API from the server's own parts: all operations, submission, composing and signing over a real store. Only
 *  the clock is fake, and DNS does not answer unless a resolver is given. Without organizations: the callers add theirs. */
export async function assembleTestApi(options: AssemblyOptions): Promise<AssembledApi> {
  const { config, random = createTestRandom() } = options
  const clock = createFakeClock(START)
  const mintId = createMintId(clock, random)
  const store = await openTestStore(options)
  const seen = options.wrapStore?.(store) ?? store
  const notifier = createNotifier(clock.sleep)
  const { on } = notifier
  const eventStream = createEventStream({ events: seen.events, clock: clock.steady, lookMs: 1_000, on })
  const streams = createStreams({ clock: clock.steady, ...options.streams })
  const verp = createVerp(random.bytes(32))
  const replyAddresses = createReplyAddresses(random.bytes(32))
  const trackingSecret = random.bytes(32)
  const recipientParts = createRecipientParts({
    verp,
    replyAddresses,
    secret: trackingSecret,
    publicUrl: () => PUBLIC_URL,
  })
  const woken = { outbound: 0, webhooks: 0, inbound: 0 }
  on('deliveries', () => void woken.outbound++)
  on('webhook deliveries', () => void woken.webhooks++)
  on('inbound deliveries', () => void woken.inbound++)
  const context: OperationContext = {
    ...parsingHere(),
    inboundAttachment: inboundAttachmentHere,
    config,
    settings: () => options.settings ?? [],
    store: seen,
    clock,
    random,
    mintId,
    resolver: options.resolver ?? silentResolver,
    compose: composeHere(),
    remoteAttachments: openRemoteAttachments(config, {
      download: options.download ?? noDownload,
      memory: options.memory ?? ampleMemory,
      clock: clock.steady,
    }),
    recipientParts: () => recipientParts,
    publicUrl: () => PUBLIC_URL,
    forwardLinks: () => createForwardLinks(new Uint8Array(32)),
    eventStream,
    streams,
    health: options.health ?? createHealthWatch({ run: async () => [], now: clock.now, log: silentLog }),
    postAlert: options.postAlert ?? (async () => ({ kind: 'no_answer', error: 'no network', durationMs: 0 })),
    wait: notifier.wait,
    notify: notifier.notify,
    delivery: withoutDelivery(config, { find: () => null }),
  }
  const submission = openSubmission(context)
  const userMail = openUserMail(context, submission)
  const { forwarding = openForwarding(context, submission), canaries = null } = options
  const services = { submission, forwarding, userMail, canaries }
  const operations = options.operations?.({ store: seen, clock, mintId }) ?? createOperations(context, services)
  const api = createApi({
    ...apiOptionsOf(options),
    ...{ operations, userMail, store: seen, clock, random, mintId, streams },
    compatApis: options.compatApis?.(operations),
    plans: (name) => config.plans[name],
    limits: { bodyBytes: options.bodyBytes },
  })
  const close = async () => {
    await api.stop(0)
    await store.close()
  }
  const parts = { api, operations, submission, store, clock, random, mintId, streams, eventStream, notifier }
  return { ...parts, verp, trackingSecret, woken, fetch: fetchFrom(api, operations), close }
}

const noDownload: Download = async () => ({ kind: 'failed', why: 'no network' })

/** Downloads of a server without a network. */
export const noRemoteAttachments = openRemoteAttachments(makeConfig({ hostname: 'mail.example.com' }), {
  download: noDownload,
  memory: ampleMemory,
  clock: systemClock.steady,
})

const openTestStore = ({ dataDir, limits, onEvents = () => {} }: AssemblyOptions) => {
  const options = {
    ...(limits && { plans: () => limits }),
    commitListener: { committed: () => {}, suppressed: () => {}, happened: onEvents },
  }
  return dataDir === undefined ? openMemoryStore(options) : openStore({ dataDir, now: START, ...options })
}

function composeHere(): Compose {
  const preparer = createPreparer()
  return async (content, signingKeys, signedAt, recipientParts = NO_RECIPIENT_PARTS) =>
    Buffer.concat(preparer.prepareNow({ content, signingKeys, signedAt, recipientParts }).parts)
}

function apiOptionsOf({ pages, log, isReady, clientAddress, ...rest }: AssemblyOptions) {
  const { origin, hasSessions, plaintextGuard, watchDescriptors, hstsSeconds, memory } = rest
  return {
    ...{ pages, origin, hasSessions, plaintextGuard, watchDescriptors, hstsSeconds, memory },
    log: log ?? silentLog,
    isReady: isReady ?? (() => null),
    clientAddress: clientAddress ?? ((peer: string | null, forwardedFor: string | null) => forwardedFor ?? peer ?? ''),
  }
}

function fetchFrom(api: Api, operations: Operation[]): AssembledApi['fetch'] {
  return async (method, path, { headers, body }) => {
    const init = { method, headers, body: body as string | Uint8Array<ArrayBuffer> | undefined }
    const response = await api.fetch(new Request(`http://localhost${path}`, init))
    const text = await textOf(response)
    const found = { status: response.status, headers: response.headers, text }
    const fault = await undocumented(operations, method, path, found)
    if (fault !== null) throw new Error(`${method} ${path}: ${fault}`)
    return { ...found, body: parsed(text) }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
