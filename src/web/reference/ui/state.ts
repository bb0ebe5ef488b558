import { computed, signal } from '@preact/signals'
import { stored } from '../../dashboard/ui/kit/state.ts'
import type { Operation, Reference, Tag } from './document.ts'
import { LANGUAGES, type Language } from './examples/languages.ts'
import { readKey } from './key.ts'

/** State of the page. The browser keeps the chosen language, and a test key until the tab is closed. */

/** Null while it loads. */
export const reference = signal<Reference | null>(null)
/** Why it failed to load; '' if it did not. */
export const fault = signal('')
export const language = stored<Language>('language', LANGUAGES)
/** Text of the search field. */
export const query = signal('')

const hash = signal('')

/** What the link names: an operation, a group, or neither. The text of a link is only looked up in the document. */
export const place = computed((): Operation | Tag | null => {
  const { operations = [], tags = [] } = reference.value ?? {}
  const name = hash.value.slice(1)
  return operations.find(({ id }) => id === name) ?? tags.find(({ slug }) => slug === name) ?? null
})

export const isOperation = (at: Operation | Tag | null): at is Operation => at !== null && 'method' in at

/** Starts following links. Call it once, at start. */
export function startPlace(): void {
  const follow = () => {
    hash.value = window.location.hash
    query.value = ''
  }
  window.addEventListener('hashchange', follow)
  follow()
}

const STORED_KEY = 'postrider.test-key'

/** The test key for examples and requests; null for none. It is kept in this tab only. */
export const testKey = signal<string | null>(storedKey())

/** Keeps a test key, or removes it. */
export function keepKey(key: string | null): void {
  testKey.value = key
  try {
    if (key === null) window.sessionStorage.removeItem(STORED_KEY)
    else window.sessionStorage.setItem(STORED_KEY, key)
  } catch {
    // Storage is disabled: the key ends with the page.
  }
}

function storedKey(): string | null {
  try {
    return readKey(window.sessionStorage.getItem(STORED_KEY) ?? '').key
  } catch {
    return null
  }
}
