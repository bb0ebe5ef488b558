/** A text that should be a test key → the key, or why it is refused. A live key is never kept or sent. */
export function readKey(text: string): { key: string; refused: null } | { key: null; refused: string } {
  const key = text.trim()
  if (/^svc_test_[0-9A-Za-z]{1,200}$/.test(key)) return { key, refused: null }
  const refused = key.toLowerCase().includes('svc_live_') ? IS_LIVE : IS_OTHER
  return { key: null, refused }
}

const IS_LIVE =
  'This is a live key: with it, a request from this page would send real mail or change real records. Use a test key, which starts with svc_test_.'
const IS_OTHER = 'This is not a test key. Test keys start with svc_test_, followed by letters and digits.'

/** Key → what the page shows of it: `svc_test_••••Ab3d`. */
export const masked = (key: string) => `svc_test_••••${key.slice(-4)}`
