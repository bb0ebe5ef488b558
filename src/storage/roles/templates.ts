import type { LimitReached } from '../../model/limits.ts'
import type { Mode } from '../../model/message.ts'
import type { Template, TemplateContent, TemplateVersion } from '../../model/template.ts'
import type { Remember } from './idempotency.ts'
import type { Page, RecordsRequest } from './paging.ts'

export interface Templates {
  /** Also stores its first version. `conflict` if another template of the organization has that alias. */
  create(template: Template, remember?: Remember): Promise<'created' | 'conflict' | LimitReached>
  count(organizationId: string): Promise<number>
  get(id: string): Promise<Template | null>
  /** Live and test templates have separate aliases; `live` by default. */
  findByAlias(organizationId: string, alias: string, mode?: Mode): Promise<Template | null>
  /** ID of any template, or alias of the organization → the template and its current version; null if there is none.
   *  An alias refers to a live template, for test mail to a test one if there is one. */
  current(organizationId: string, idOrAlias: string, mode?: Mode): Promise<TemplateRef | null>
  /** Without texts and `sample`: a page of complete templates could be fifty megabytes. */
  list(organizationId: string, page: RecordsRequest): Promise<Page<ListedTemplate>>
  /** Changes the given fields; `sample` as a whole. Content is given as a whole and becomes a new version if one of its texts differs
   *  from the current one; the oldest versions beyond the plan's limit are deleted. `changed` if version `expected`
   *  is no longer current, `conflict` if the alias is in use; then nothing is written. */
  update(
    id: string,
    expected: number,
    change: { alias?: string | null; name?: string; sample?: Template['sample']; content?: TemplateContent },
    now: number,
  ): Promise<{ kind: 'updated'; template: Template } | { kind: 'changed' | 'conflict' | 'unknown' } | LimitReached>
  version(id: string, version: number): Promise<TemplateVersion | null>
  /** Newest first, those before version `before` (null = from the newest), without the texts. */
  versions(id: string, page: { limit: number; before: number | null }): Promise<Page<ListedTemplateVersion>>
  /** Templates of the organization whose current version has this alias as layout or partial, the oldest first: live
   *  and test ones for a live alias, test ones for a test alias. At most USERS_SHOWN. */
  usersOf(organizationId: string, alias: string, mode: Mode): Promise<TemplateUserRef[]>
  /** Removes it with its versions, in several transactions. Messages made from it stay. */
  remove(id: string): Promise<void>
}

export type TemplateRef = Pick<Template, 'id' | 'organizationId' | 'version' | 'mode' | 'kind'>

/** A template that uses another. */
export type TemplateUserRef = Pick<Template, 'id' | 'alias' | 'name'>

export const USERS_SHOWN = 20

export type ListedTemplate = Omit<Template, Unlisted | 'sample'>
export type ListedTemplateVersion = Omit<TemplateVersion, Unlisted>
type Unlisted = 'html' | 'mjml' | 'text' | 'layout' | 'uses' | 'locales'
