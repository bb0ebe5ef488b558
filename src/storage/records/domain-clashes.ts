import { derivedHosts, domainOfMtaStsHost, selfAndParents } from '../../model/domain-names.ts'
import { row, sql, type Work } from '../sql.ts'

/** Names that two domains cannot both have (domains.clashes). */

/** The names of a domain. */
export interface Names {
  id: string
  organizationId: string
  name: string
  returnPathHost: string
  tracking: { host: string | null }
}

/** Domains to compare with. `foreign`: verified ones of other organizations; `verified`: also all of the
 *  organization itself; `all`: every domain. */
export type Others = 'foreign' | 'verified' | 'all'

const CLASH = sql<{ id: string }>(`select id from domains
  where id <> $1 and case when organization_id = $2 then $3::boolean else status = 'verified' or $4::boolean end
    and (name = any($5::text[]) or return_path_host = any($6::text[]) or tracking_host = any($6::text[])) limit 1`)

/** Whether names clash with those of another domain: the same name; a name at or below a derived host of the other; a
 *  derived host that is the other's name or derived host, or that is below the other's name where that is below the
 *  domain itself. Call it inside the change that relies on it. */
export function* clashes(domain: Names, others: Others): Work<boolean> {
  const derived = derivedHosts(domain)
  const names = [domain.name, ...derived.flatMap((host) => below(domain.name, host))]
  const hosts = selfAndParents(domain.name)
  const foreign = derived.filter((host) => domainOfMtaStsHost(host) !== domain.name)
  // The policy host of a domain is derived from its name alone, so its owner has that name.
  const owners = [...hosts, ...foreign].map(domainOfMtaStsHost).filter((name) => name !== null)
  const clash = yield* row(
    CLASH,
    domain.id,
    domain.organizationId,
    others !== 'foreign',
    others === 'all',
    [...names, ...owners],
    [...hosts, ...foreign],
  )
  return clash !== null
}

/** Host of a domain → itself and the names between the two. */
function below(name: string, host: string): string[] {
  return selfAndParents(host).filter((each) => each.length > name.length)
}
