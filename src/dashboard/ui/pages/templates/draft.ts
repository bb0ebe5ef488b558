import type { Json } from '../../kit/api.ts'
import { readSample, sampleText } from './sample.ts'
import { type Texts, textsGiven } from './use-preview.ts'

/** What the user types in the template editor, and its copy in the browser tab. */

export interface Draft extends Texts {
  name: string
  alias: string
  /** Text of a JSON object. */
  sample: string
}

/** Template of the API → the texts of its fields; empty fields for null. */
export function draftOf(template: Json | null): Draft {
  const { name, alias, subject, html, mjml, text, sample } = template ?? {}
  return {
    name: name ?? '',
    alias: alias ?? '',
    subject: subject ?? '',
    ...sourceOf({ html, mjml }),
    text: text ?? '',
    sample: sampleText(sample ?? {}),
  }
}

/** Texts of the API → those of the body that its author wrote. */
export function sourceOf({ html, mjml }: Json): Pick<Texts, 'html' | 'mjml' | 'source'> {
  return { html: html ?? '', mjml: mjml ?? '', source: mjml == null ? 'html' : 'mjml' }
}

/** Draft → the fields of an API request that differ from `saved`; all fields for a new template. A sample that is not
 *  valid JSON counts as different and stays text, which the API refuses. */
export function changesOf(draft: Draft, saved: Json | null): Record<string, unknown> {
  const [wanted, present] = [bodyOf(draft), saved === null ? {} : bodyOf(draftOf(saved))]
  const isNew = ([name, value]: [string, unknown]) =>
    JSON.stringify(value) !== JSON.stringify((present as Record<string, unknown>)[name])
  return Object.fromEntries(Object.entries(wanted).filter(isNew))
}

function bodyOf({ name, alias, sample, ...texts }: Draft) {
  const read = readSample(sample)
  return {
    name,
    alias: alias === '' ? null : alias,
    ...textsGiven(texts),
    sample: 'sample' in read ? read.sample : sample,
  }
}

/** Keeps unsaved texts of a template in this browser tab, so that a reload or an ended session loses nothing. '' is the
 *  ID of a new template. Does nothing if storage is disabled or full. */
export function keepDraft(templateId: string, draft: Draft): void {
  try {
    window.sessionStorage.setItem(KEY + templateId, JSON.stringify(draft))
  } catch {
    // the draft ends with the page
  }
}

/** The unsaved texts of a template; null without any. */
export function keptDraft(templateId: string): Draft | null {
  try {
    const kept: Draft | null = JSON.parse(window.sessionStorage.getItem(KEY + templateId) ?? 'null')
    return kept && { ...draftOf(null), ...kept }
  } catch {
    return null
  }
}

export function forgetDraft(templateId: string): void {
  try {
    window.sessionStorage.removeItem(KEY + templateId)
  } catch {
    // nothing is stored
  }
}

const KEY = 'postrider.draft.'
