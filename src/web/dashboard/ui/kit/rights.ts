import { organization, session } from './state.ts'

/** The least role that may call an API operation in the selected organization; null if the user may call it. The server
 *  derives it from the access rules of its operations (src/web/api/access.ts), and enforces it: pages ask only to hide
 *  what would fail. */
export function roleNeeded(operation: string): string | null {
  const { user, refused } = session.value ?? {}
  if (user === undefined || user.is_operator) return null
  const role = organization.value?.role ?? ''
  return refused?.[role]?.[operation] ?? null
}

/** True if the user may call the operation: `may('api_keys_create') && <button …>`. */
export const may = (operation: string): boolean => roleNeeded(operation) === null
