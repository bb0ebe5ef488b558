import type { Organization } from '../../model/organization.ts'
import type { Page, RecordsRequest } from './paging.ts'

export interface Organizations {
  /** `conflict` if another one has that name; then nothing is written. */
  create(organization: Organization): Promise<'created' | 'conflict'>
  get(id: string): Promise<Organization | null>
  /** Finds by ID or name. */
  find(idOrName: string): Promise<Organization | null>
  list(): Promise<Organization[]>
  /** Newest first. */
  page(page: RecordsRequest): Promise<Page<Organization>>
  setPlan(id: string, plan: string): Promise<void>
  /** `conflict` when another organization has that name. */
  rename(id: string, name: string): Promise<'renamed' | 'conflict'>
}
