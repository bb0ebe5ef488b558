import { readFileSync } from 'node:fs'
import type { Page } from '../client/pages.ts'
import type { Config } from '../config/load.ts'
import { createEventStream } from '../events/event-stream/event-stream.ts'
import { createForwardLinks } from '../mail/forward-link.ts'
import { createRecipientParts, NO_RECIPIENT_PARTS } from '../mail/recipient-parts.ts'
import { createReplyAddresses } from '../mail/reply-address.ts'
import { createVerp } from '../mail/verp.ts'
import type { Mode } from '../model/message.ts'
import { policyAt } from '../model/mta-sts.ts'
import { invalid } from '../model/refusal.ts'
import { createAuthoritativeResolver } from '../net/dns/authoritative.ts'
import { createResolver, type Resolver, systemServers } from '../net/dns/resolver.ts'
import { downloadBy } from '../net/https/download.ts'
import { createExchange, type Exchange } from '../net/https/exchange.ts'
import { createPost } from '../net/https/requests.ts'
import { createAddressGuard } from '../net/ip.ts'
import { createHealthWatch } from '../operating/health/watch.ts'
import type { WallClock } from '../os/clock.ts'
import { createMintId, type MintId } from '../os/ids.ts'
import type { Log } from '../os/log.ts'
import { ampleMemory } from '../os/memory.ts'
import type { Random } from '../os/random.ts'
import { createPreparer } from '../sending/outbound/prepare.ts'
import type { SigningKey } from '../sending/submission/signing.ts'
import { openCanaries } from '../server/canary.ts'
import { createOperations, type OperationContext, withoutDelivery } from '../server/operations.ts'
import { inboundAttachmentHere, parsingHere } from '../server/parsing/parsing.ts'
import {
  openCanaryMail,
  openForwarding,
  openRemoteAttachments,
  openSubmission,
  openUserMail,
} from '../server/submission.ts'
import type { Store } from '../storage/store.ts'
import { VERSION } from '../version.ts'
import { Audit, type Origin } from '../web/api/audit.ts'
import type { Call, Operation } from '../web/api/operation.ts'
import { operatorKey } from '../web/api/operator.ts'
import { loadResource, runHandler } from '../web/api/perform.ts'
import { check } from '../web/api/schema.ts'
import { createStreams } from '../web/api/streams.ts'
import type { ListName, Lists, OperationName, Results } from './results.ts'

/** Runs the operations of the HTTP API for the command line, without an API key and for any organization. It validates,
 *  stores and returns records as the API does. */
export interface Operator {
  mintId: MintId
  /** Resolver without a cache. */
  resolver: Resolver
  /** Runs an API operation and returns the body of its response. Throws Refusal as the API operation does. */
  run<Id extends OperationName>(operationId: Id, request: OperatorRequest): Promise<Results[Id]>
  /** Returns all records of a list, newest first, over all pages. */
  listAll<Id extends ListName>(operationId: Id, request: OperatorRequest): Promise<Lists[Id][]>
  /** Runs work that has no API operation and adds it to the audit log as `action`. Returns or throws
   *  what `work` does. */
  manage<T>(action: string, about: { organizationId: string | null; body: object }, work: () => Promise<T>): Promise<T>
  close(): void
}

/** Arguments of an API operation. Parameters, query and body have the names and types of the API. */
export interface OperatorRequest {
  /** '' for operations that belong to no organization. */
  organizationId: string
  /** Sending domain. */
  domainId?: string
  mode?: Mode
  params?: Record<string, string>
  query?: Record<string, string>
  body?: unknown
}

/** Creates an Operator on an open store. A server in a separate process notices queued work on its own; `onQueued`
 *  notifies one in the same process. Call `close` to close the resolver's sockets. */
export function createOperator(deps: {
  config: Config
  store: Store
  clock: WallClock
  random: Random
  log: Log
  /** Name of the user in the audit log. */
  user: string
  onQueued?: () => void
  /** Queries authoritative name servers instead of a caching resolver, unless the config names servers. */
  asksAuthorities?: boolean
}): Operator {
  const { config, store, clock, random, log, onQueued = () => {} } = deps
  const mintId = createMintId(clock, random)
  const servers = config.dns.servers.length > 0 ? [...config.dns.servers] : systemServers()
  const asked = createResolver({
    servers,
    trustedServers: config.dns.trustedResolvers,
    clock,
    random,
    maxCacheEntries: 0,
  })
  const resolver =
    deps.asksAuthorities && config.dns.servers.length === 0
      ? createAuthoritativeResolver({
          base: asked,
          mayAsk: config.delivery.allowPrivateDestinations ? () => true : createAddressGuard([]),
          clock,
          random,
        })
      : asked
  const preparer = createPreparer()
  const context: OperationContext = {
    ...parsingHere(),
    inboundAttachment: inboundAttachmentHere,
    config,
    store,
    clock,
    random,
    mintId,
    resolver,
    compose: async (
      content: Uint8Array,
      signingKeys: SigningKey[],
      signedAt: number,
      recipientParts = NO_RECIPIENT_PARTS,
    ) => Buffer.concat(preparer.prepareNow({ content, signingKeys, signedAt, recipientParts }).parts),
    recipientParts: async () =>
      createRecipientParts({
        verp: createVerp(await store.secret('verp', random.bytes(32))),
        replyAddresses: createReplyAddresses(await store.secret('reply', random.bytes(32))),
        secret: await store.secret('tracking', random.bytes(32)),
        publicUrl: () => config.http.publicUrl,
      }),
    remoteAttachments: openRemoteAttachments(config, {
      download: (url, limits) => downloadBy(fileExchange(config, resolver), clock.steady.now)(url, limits),
      memory: ampleMemory,
      clock: clock.steady,
    }),
    publicUrl: () => config.http.publicUrl,
    forwardLinks: async () => createForwardLinks(await store.secret('forward', random.bytes(32))),
    eventStream: createEventStream({ events: store.events, clock, lookMs: 1_000 }),
    streams: createStreams({ clock }),
    postAlert: createPost({
      resolver,
      mayConnect: () => true, // the operator configured the channels
      userAgent: `Postrider/${VERSION}`,
      clock,
      ...(config.webhooks.caFile === null ? {} : { ca: readFileSync(config.webhooks.caFile, 'utf8') }),
    }),
    health: createHealthWatch({ run: async () => [], now: clock.now, log }),
    wait: async () => {},
    notify: onQueued,
    delivery: withoutDelivery(config, {
      find: async (domain) => policyAt(await store.mtaSts.get(domain), clock.now()),
    }),
  }
  const submission = openSubmission(context)
  const canaries = openCanaries(config, { ...context, userMail: openCanaryMail(context, submission), log })
  const operations = createOperations(context, {
    submission,
    forwarding: openForwarding(context, submission),
    userMail: openUserMail(context, submission),
    canaries,
  })

  const audit = new Audit({ auditLog: store.auditLog, mintId, log })
  const origin: Origin = { actor: { type: 'operator', id: 'operator', name: deps.user }, ipAddress: null }

  const ask = async (operationId: string, request: OperatorRequest): Promise<unknown> => {
    const operation = operations.find(({ id }) => id === operationId)
    if (operation === undefined) throw new Error(`unknown operation ${operationId}`)
    const call = callOf(request, mintId, clock.now())
    const answer = await audit.record(operation, call, origin, async () => {
      await loadResource(operation, call)
      const query = operation.query && checked(operation.query, request.query ?? {})
      const body = operation.body && checked(operation.body, request.body ?? {})
      return runHandler(operation, call, { query, body }, () => undefined)
    })
    return answer.body
  }

  return {
    mintId,
    resolver,
    // Handlers do not declare their body. These types are generated from the OpenAPI document, and tests validate every
    // body against that document.
    run: async <Id extends OperationName>(operationId: Id, request: OperatorRequest) =>
      (await ask(operationId, request)) as Results[Id],
    listAll: listAllBy(ask),
    manage: (action, { organizationId, body }, work) => {
      const call = {
        organizationId,
        now: clock.now(),
        requestId: mintId('req'),
        params: { id: organizationId ?? '' },
        body,
      }
      return audit.record({ id: action, method: 'POST' }, call, origin, work)
    },
    close: resolver.close,
  }
}

/** Reads a list page by page with `ask`, which runs an operation and returns its body. */
export function listAllBy(ask: (operationId: string, request: OperatorRequest) => Promise<unknown>) {
  return async <Id extends ListName>(operationId: Id, request: OperatorRequest): Promise<Lists[Id][]> => {
    const records: Lists[Id][] = []
    for (let query: Record<string, string> = { ...request.query, limit: '100' }; ; ) {
      const page = (await ask(operationId, { ...request, query })) as Page<Lists[Id]>
      records.push(...page.data)
      if (page.next_cursor === null) return records
      query = { ...query, cursor: page.next_cursor }
    }
  }
}

/** Created at the first download: the built-in roots take some ms. */
function fileExchange({ attachments }: Config, resolver: Resolver): Exchange {
  const { exchange } = createExchange({
    resolver,
    mayConnect: createAddressGuard([...attachments.allowedPrivateNetworks]),
    userAgent: `Postrider/${VERSION}`,
    keepsAlive: false,
    ...(attachments.caFile === null ? {} : { ca: readFileSync(attachments.caFile, 'utf8') }),
  })
  return exchange
}

function callOf(request: OperatorRequest, mintId: MintId, now: number): Call {
  const { organizationId, domainId = '', mode = 'live', params = {} } = request
  const key = operatorKey({ organizationId, domainId, mode }, now)
  return {
    key,
    organizationId,
    requestId: mintId('req'),
    now,
    params,
    headers: new Headers(),
    signal: new AbortController().signal,
    isKeyValid: async () => true,
  }
}

function checked(schema: NonNullable<Operation['body']>, value: unknown): unknown {
  const { value: parsed, faults } = check(schema, value, 'arguments')
  if (faults !== null) throw invalid(faults)
  return parsed
}
