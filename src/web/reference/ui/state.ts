import { computed, effect, signal } from '@preact/signals'
import { stored } from '../../dashboard/ui/kit/state.ts'
import { LANGUAGES, type Language } from '../../examples/languages.ts'
import type { Operation, Reference, Tag } from './document.ts'
import { readKey } from './key.ts'

/** State of the page. The browser keeps the chosen language, and a test key until the tab is closed. */

/** Null while it loads. */
export const reference = signal<Reference | null>(null)
/** Why it failed to load; '' if it did not. */
export const fault = signal('')
export const language = stored<Language>('language', LANGUAGES)

/** Part of the address after and with `#`. */
export const hash = signal('')

/** What the link names: an operation, a group, or neither. The text of a link is only looked up in the document. */
export const place = computed((): Operation | Tag | null => {
  const { operations = [], tags = [] } = reference.value ?? {}
  const name = hash.value.slice(1)
  return operations.find(({ id }) => id === name) ?? tags.find(({ slug }) => slug === name) ?? null
})

/** What the link names and the document does not have; '' for none. */
export const wrongName = computed(() => {
  const name = hash.value.slice(1)
  return reference.value === null || place.value !== null || name === 'overview' ? '' : name.slice(0, 100)
})

export const isOperation = (at: Operation | Tag | null): at is Operation => at !== null && 'method' in at

/** Starts following links. Call it once, at start. */
export function startPlace(): void {
  const follow = () => {
    // A link to a part of the page, such as “Skip to content”, leaves the operation where it is.
    if (document.getElementById(window.location.hash.slice(1)) === null) hash.value = window.location.hash
  }
  window.addEventListener('hashchange', follow)
  follow()
}

const STORED_KEY = 'postrider.test-key'

/** The test key for examples and requests; null for none. It is kept in this tab only. */
export const testKey = signal<string | null>(storedKey())

/** Domain of the test key, from which it may send; null without a key, and until the server has answered. */
export const keyDomain = signal<string | null>(null)

/** Keeps `keyDomain` up to date. Without an answer the examples keep their own sender. Call it once, at start. */
export function startKeyDomain(): void {
  effect(() => {
    const key = testKey.value
    keyDomain.value = null
    if (key === null) return
    const ended = new AbortController()
    domainOf(key, ended.signal).then(
      (domain) => {
        if (!ended.signal.aborted) keyDomain.value = domain
      },
      () => {},
    )
    return () => ended.abort()
  })
}

/** Rejects without an answer in JSON. Null for a key that the server refuses. */
async function domainOf(key: string, signal: AbortSignal): Promise<string | null> {
  const headers = { authorization: `Bearer ${key}` }
  const response = await fetch('/v1/me', { headers, signal, credentials: 'omit', redirect: 'error', cache: 'no-store' })
  return response.ok ? ((await response.json()).domain ?? null) : null
}

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
