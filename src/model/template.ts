import type { Mode } from './message.ts'

/** A reusable mail with variables, owned by an organization. Messages are created from it with values for the
 *  variables. */
export interface Template extends TemplateContent {
  id: string
  organizationId: string
  /** `test`: created by a test key, and used by test messages only. */
  mode: Mode
  /** Alternative name, chosen by the owner, that is the same for all versions; null = none. */
  alias: string | null
  name: string
  /** Values of variables for previews and checks; messages never use them. */
  sample: Record<string, unknown>
  /** Version number, from 1; a content change increments it. */
  version: number
  createdAt: number
  updatedAt: number
}

/** Content with variables. At least one of `html` and `text` is present. */
export interface TemplateContent {
  /** Null = each message provides its own. */
  subject: string | null
  html: string | null
  text: string | null
  /** Names of the variables, in the order of their first use, for example `user.name`. */
  variables: string[]
}

/** Content of one version. The newest version is the current one. */
export interface TemplateVersion extends TemplateContent {
  version: number
  createdAt: number
}

/** Text → why it cannot be an alias, as a predicate; null if it can. An ID is never a valid alias, because it has an
 *  underscore. */
export function aliasFault(alias: string): string | null {
  return /^[a-z0-9-]{1,100}$/.test(alias) ? null : 'must be 1 to 100 lower-case letters, digits and hyphens'
}
