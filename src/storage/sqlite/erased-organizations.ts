import type { Connection } from './driver.ts'
import type { ForeignChanges } from './foreign.ts'

/** Organizations that have erased a recipient, cached until something changes. */
export interface ErasedOrganizations {
  has(organizationId: string): boolean
  drop(): void
}

export function erasedOrganizations(db: Connection, foreign: ForeignChanges): ErasedOrganizations {
  const any = db.prepare('select 1 from erasures where organization_id = ? limit 1')
  const known = new Map<string, boolean>()
  foreign.onChange(() => known.clear())
  return {
    has: (organizationId) => {
      const present = known.get(organizationId)
      if (present !== undefined) return present
      const has = any.get(organizationId) !== undefined
      known.set(organizationId, has)
      return has
    },
    drop: () => known.clear(),
  }
}
