/** The two schemas of joi that mailauth validates with. It reads only whether `validate` returns an error.
 *  As in joi, undefined is valid, and an empty string or another type is not. */
const LABEL = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/i
const LAST_LABEL = /^[a-z](?:[a-z0-9-]*[a-z0-9])?$/i
const BASE64 = /^[a-z0-9+/]*(?:==?)?$/i

/** `Joi.string().base64({ paddingRequired: false })`. RFC 4648 §4 */
const isBase64 = (text) => {
  if (!BASE64.test(text)) return false
  const digits = text.indexOf('=') < 0 ? text.length : text.indexOf('=')
  return digits % 4 !== 1 && (digits === text.length || text.length % 4 === 0)
}

/** `Joi.string().domain({ allowUnicode: false, tlds: false })`: two labels or more. RFC 1035 §2.3.1 */
const isDomain = (text) => {
  const labels = text.split('.')
  const last = labels.pop()
  return (
    text.length <= 256 &&
    labels.length > 0 &&
    [...labels, last].every((label) => label.length <= 63) &&
    labels.every((label) => LABEL.test(label)) &&
    LAST_LABEL.test(last)
  )
}

const schema = (what, isValid) => ({
  validate: (value) =>
    value === undefined || (typeof value === 'string' && value !== '' && isValid(value))
      ? { value }
      : { value, error: new Error(`expected ${what}`) },
})

/** Throws if mailauth asks for other rules than those above. */
const only = (expected, what, isValid) => (options) => {
  if (JSON.stringify(options) !== JSON.stringify(expected)) throw new Error(`unknown options of the schema for ${what}`)
  return schema(what, isValid)
}

module.exports = {
  string: () => ({
    base64: only({ paddingRequired: false }, 'base64', isBase64),
    domain: only({ allowUnicode: false, tlds: false }, 'a domain name', isDomain),
  }),
}
