import { readFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../../config/load.ts'
import { spfAllows } from '../../domains/spf.ts'
import { createResolver, type Resolver, systemServers } from '../../net/dns/resolver.ts'
import { createAsk } from '../../net/https/requests.ts'
import { createAddressGuard, createNetworks } from '../../net/ip.ts'
import { systemClock, type WallClock } from '../../os/clock.ts'
import type { Random } from '../../os/random.ts'
import { greet } from '../../sending/outbound/smtp/greet.ts'
import { peerOf } from '../../sending/outbound/smtp/peer.ts'
import { createReaderStarter } from '../../server/inbound-readers.ts'
import { singleSignOnOptions } from '../../server/single-sign-on.ts'
import { VERSION } from '../../version.ts'
import { createProvider, isNoAnswer } from '../../web/api/sign-in/single-sign-on/provider.ts'
import { CALLBACK_PATH } from '../../web/api/sign-in/single-sign-on/settings.ts'
import type { CheckDeps, HeldPort } from '../health/deps.ts'
import { SIGNED_NAME } from '../health/name-servers.ts'
import { delegationQueries } from './delegation.ts'
import { greetRelay } from './relay.ts'
import { askTime } from './sntp.ts'

/** Time limit for a call to a mail server; connecting to a blocked port takes all of it. */
const CALL_MS = 4_000
/** Time limit of one question to one name server, which is asked twice. */
const QUESTION_MS = 1_000
const TIME_MS = 2_000
const TIME_PORT = 123
const UNIT_FOLDERS = ['/etc/systemd/system', '/usr/lib/systemd/system', '/lib/systemd/system']

/** Config and this machine → the dependencies of the checks; close them after use. */
export function openCheckDeps(
  config: Config,
  { clock, random, held }: { clock: WallClock; random: Random; held: readonly HeldPort[] | null },
): { deps: CheckDeps; close: () => void } {
  const { hostname, delivery, dns } = config
  const nameServers = dns.servers.length > 0 ? [...dns.servers] : systemServers()
  const asking = {
    servers: nameServers,
    clock: clock.steady,
    random,
    maxCacheEntries: 0,
    timeoutMs: QUESTION_MS,
    tries: 2,
  }
  const resolver = createResolver({ ...asking, trustedServers: dns.trustedResolvers })
  const believing = createResolver({ ...asking, trustedServers: ['0.0.0.0/0', '::/0'] })
  const { sourceAddress } = delivery
  const ourselves = { hostname, sourceAddress, timeoutMs: CALL_MS }
  const deps: CheckDeps = {
    now: clock.now,
    machineNow: systemClock.now,
    resolver,
    spfAllows: (record, host, sender) => spfAllows(record, host, sender, resolver),
    nameServers,
    isTrusted: createNetworks(dns.trustedResolvers),
    validates: async () => {
      const answer = await believing.ns(SIGNED_NAME)
      return answer.kind === 'records' && answer.authentic
    },
    ownAddresses,
    mayConnect: delivery.allowPrivateDestinations ? () => true : createAddressGuard([]),
    greet: (host, address) =>
      greet({ ...peerOf(host, address, { demand: 'none' }, delivery.port), tls: 'never' }, ourselves),
    greetRelay: (name) => greetRelay(config, name, { resolver, timeoutMs: CALL_MS }),
    provider: providerOf(config, resolver, clock),
    delegation: delegationQueries({ resolver, random, timeoutMs: QUESTION_MS }),
    askTime: (address) => askTime({ address, port: TIME_PORT }, { now: clock.now, random, timeoutMs: TIME_MS }),
    held: held ?? [],
    proc: '/proc',
    sys: '/sys',
    units: UNIT_FOLDERS.map((folder) => join(folder, 'postrider.service')),
    readerSeparation: createReaderStarter({}).probe,
    looksOutside: config.health.lookOutside,
  }
  const close = () => {
    resolver.close()
    believing.close()
  }
  return { deps, close }
}

/** How the checks ask the provider of `[oidc]`; null without one. */
function providerOf(config: Config, resolver: Resolver, clock: WallClock): CheckDeps['provider'] {
  const { issuer, caFile } = config.oidc
  if (issuer === null) return null
  const publicUrl = () => config.http.publicUrl
  const look = async () => {
    const ca = caFile === null ? {} : { ca: readFileSync(caFile, 'utf8') }
    const ask = createAsk({ resolver, mayConnect: () => true, userAgent: `Postrider/${VERSION}`, ...ca })
    const options = singleSignOnOptions(config, ask, publicUrl)
    if (options === undefined) return null
    const answer = createProvider({ ...options, timeoutMs: CALL_MS }, clock.steady.now).check()
    return answer.then(
      () => null,
      (error: unknown) =>
        isNoAnswer(error) ? 'no answer, or no certificate that is trusted' : 'not an OpenID Connect provider',
    )
  }
  return { issuer, redirectUri: `${publicUrl()}${CALLBACK_PATH}`, look }
}

/** Addresses of this machine's network interfaces, without loopback and link-local ones. */
export function ownAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, address }) => !internal && !/^(?:fe80:|169\.254\.)/i.test(address))
    .map(({ address }) => address)
}
