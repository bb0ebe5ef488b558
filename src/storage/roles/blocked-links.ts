import type { BlockedLink } from '../../model/blocked-link.ts'
import type { Page, RecordsRequest } from './paging.ts'

/** Targets of clicks that the operator has blocked. */
export interface BlockedLinks {
  /** `conflict`: it is blocked already; `limit`: there are MOST_BLOCKED_LINKS. */
  add(link: BlockedLink): Promise<'added' | 'conflict' | 'limit'>
  get(id: string): Promise<BlockedLink | null>
  list(page: RecordsRequest): Promise<Page<BlockedLink>>
  remove(id: string): Promise<void>
  /** Whether clicks on the link must not be sent on. Synchronous and from memory. */
  isBlocked(url: string): boolean
}
