import { derivedHosts, domainOfMtaStsHost, selfAndParents } from '../../model/domain-names.ts'
import type { Connection } from './driver.ts'

/** Names that two domains cannot both have (Domains.clashes). */

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

const COUNTS = `id <> ? and iif(organization_id = ?, ?, status = 'verified' or ?)`
const BY_NAME = `select 1 from domains where name = ? and ${COUNTS} limit 1`
const BY_RETURN_PATH_HOST = `select 1 from domains where return_path_host = ? and ${COUNTS} limit 1`
const BY_TRACKING_HOST = `select 1 from domains where tracking_host = ? and ${COUNTS} limit 1`

/** Connection → a check whether names clash with those of another domain: the same name; a name at or below a
 *  derived host of the other; a derived host that is the other's name or derived host, or that is below the other's
 *  name where that is below the domain itself. Call it inside the change that relies on it. */
export function domainClashes(db: Connection): (domain: Names, others: Others) => boolean {
  const byName = db.prepare(BY_NAME)
  const byReturnPathHost = db.prepare(BY_RETURN_PATH_HOST)
  const byTrackingHost = db.prepare(BY_TRACKING_HOST)
  return (domain, others) => {
    const counts = [domain.id, domain.organizationId, Number(others !== 'foreign'), Number(others === 'all')]
    const isName = (name: string) => byName.get(name, ...counts) !== undefined
    const isDerived = (host: string) => {
      const owner = domainOfMtaStsHost(host)
      return (
        byReturnPathHost.get(host, ...counts) !== undefined ||
        byTrackingHost.get(host, ...counts) !== undefined ||
        (owner !== null && isName(owner))
      )
    }
    return (
      isName(domain.name) ||
      selfAndParents(domain.name).some(isDerived) ||
      derivedHosts(domain).some(
        (host) => below(domain.name, host).some(isName) || isForeignDerived(host, domain.name, isDerived),
      )
    )
  }
}

/** Host of a domain → itself and the names between the two. */
function below(name: string, host: string): string[] {
  return selfAndParents(host).filter((each) => each.length > name.length)
}

/** The domain's own policy host is derived from the domain itself, which is no clash. */
function isForeignDerived(host: string, name: string, isDerived: (host: string) => boolean): boolean {
  return domainOfMtaStsHost(host) !== name && isDerived(host)
}
