import type { Mode } from './message.ts'

/** A mail with gaps, kept for an organization; messages are made from it by giving the variables. */
export interface Template extends TemplateContent {
  id: string
  organizationId: string
  /** `test`: made by a test key, and used by test messages only. */
  mode: Mode
  /** Another name for it, chosen by its owner, the same from one version to the next; null = none. */
  alias: string | null
  name: string
  /** Counts from 1, and up when the content changes. */
  version: number
  createdAt: number
  updatedAt: number
}

/** What is filled in. At least one of `html` and `text` is there. */
export interface TemplateContent {
  /** Null = each message brings its own. */
  subject: string | null
  html: string | null
  text: string | null
  /** The names of the variables that stand in it, in the order of their first use: `user.name`. */
  variables: string[]
}

/** The content as it was from one change to the next; the newest is the present one. */
export interface TemplateVersion extends TemplateContent {
  version: number
  createdAt: number
}

/** Text → why it cannot be an alias, as a predicate, or null. An id is never one: it has an underscore. */
export function aliasFault(alias: string): string | null {
  return /^[a-z0-9-]{1,100}$/.test(alias) ? null : 'must be 1 to 100 lower-case letters, digits and hyphens'
}
