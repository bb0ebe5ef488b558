import type { BlockedLink } from '../../model/blocked-link.ts'
import type { Page, RecordsRequest } from './paging.ts'

/** Click targets that the operator has blocked. */
export interface BlockedLinks {
  /** `conflict`: already blocked; `limit`: MOST_BLOCKED_LINKS is reached. */
  add(link: BlockedLink): Promise<'added' | 'conflict' | 'limit'>
  get(id: string): Promise<BlockedLink | null>
  list(page: RecordsRequest): Promise<Page<BlockedLink>>
  remove(id: string): Promise<void>
}
