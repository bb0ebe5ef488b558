import { fail, pass, skip, type Verdict, warn } from './check.ts'

/** How the writing of the delegated zone into the operator's name server goes on a node since its start. Times are ms UTC. */
export interface ZoneUpdateState {
  /** When the zone was last known to be as it should be: it was read, and every difference was written. */
  succeededAt: number | null
  /** The first failure since then, and the last one; null while there is none. */
  failure: { since: number; at: number; message: string } | null
  /** Labels with names that this server did not make. */
  foreign: readonly string[]
}

export interface ZoneUpdateFacts {
  zone: string
  /** `ip:port` of the name server. */
  server: string
  /** Null if this process does not write the zone, or did not yet. */
  state: ZoneUpdateState | null
  /** Asks the name server for a change of nothing, and for a transfer of the zone. Resolves with the problem, null if it takes
   *  both. */
  probe: () => Promise<string | null>
  now: number
}

/** Checks that the name server of `dns.update` takes the zone, and that writing it does not fail. */
export async function checkZoneUpdate(facts: ZoneUpdateFacts | null): Promise<Verdict> {
  if (facts === null) return skip('dns.update is off')
  const { zone, server, state, probe, now } = facts
  if (state !== null && state.failure !== null) {
    const { since, message } = state.failure
    const verdict = now - since >= LONG_MS ? fail : warn
    return verdict(`${zone} is not written to ${server} since ${iso(since)}: ${message}`, ADVICE)
  }
  const problem = await probe()
  if (problem !== null) return fail(`${server} does not take updates of ${zone}: ${problem}`, ADVICE)
  const [foreign, ...others] = state?.foreign ?? []
  if (foreign !== undefined) {
    const more = others.length === 0 ? '' : `, and ${others.length} more`
    return warn(
      `${server} has names below ${foreign}.${zone} that this server did not make${more}`,
      'Remove them there, also the TXT record of the label. They are looked at again every ten minutes.',
    )
  }
  const written = state?.succeededAt == null ? '' : `; last success ${iso(state.succeededAt)}`
  return pass(`${server} takes updates of ${zone}${written}`)
}

const iso = (at: number) => new Date(at).toISOString()

const ADVICE =
  'Compare dns.update with the key, its rights and the clock of the name server: postrider manual dns-once. New keys and domains wait meanwhile.'
/** Restarts of a name server are shorter. */
const LONG_MS = 30 * 60_000
