import { Check, Field, type Values } from '../kit/form.tsx'

/** Headers of an endpoint, one per line. The stored ones are known by their names only; without a new line they stay.
 *  `name` is the name in the API's validation errors. */
export function HeadersField({ name, stored = [] }: { name: string; stored?: readonly string[] }) {
  const hint =
    stored.length === 0
      ? 'One per line, such as the key of an API gateway. Values are never shown again.'
      : `Set: ${stored.join(', ')}. Leave empty to keep them. A URL of another host removes them.`
  return (
    <>
      <Field name={name} label="Headers" hint={hint}>
        {(control) => (
          <textarea {...control} rows={2} autoComplete="off" spellcheck={false} placeholder="X-Api-Key: your key" />
        )}
      </Field>
      {stored.length > 0 && <Check name={REMOVE} label="Remove the headers" />}
    </>
  )
}

/** Form values → `headers` of the request, and the other values. Without `headers`, the stored ones stay. */
export function takeHeaders(name: string, { [name]: text, [REMOVE]: isRemoved, ...rest }: Values) {
  if (text !== undefined) return { rest, given: { headers: headersIn(text) } }
  return { rest, given: isRemoved ? { headers: null } : {} }
}

/** `Name: value` in each line → values by name. A line without a colon becomes a name, which the API refuses. */
function headersIn(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...value] = line.split(':')
      return [name.trim(), value.join(':').trim()]
    }),
  )
}

const REMOVE = 'remove_headers'
