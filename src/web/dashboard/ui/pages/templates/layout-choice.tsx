import { get, type Paged } from '../../kit/api.ts'
import { Field } from '../../kit/form.tsx'
import { useLoad } from '../../kit/load.ts'
import { Options } from '../../kit/pieces.tsx'
import { href } from '../../kit/router.ts'

/** Choice of the layout of a template by its alias; '' for none. Test templates can also use test layouts. */
export function LayoutChoice({
  value,
  isTest,
  onChange,
}: {
  value: string
  isTest: boolean
  onChange: (alias: string) => void
}) {
  const { data, error } = useLoad((signal) => get<Paged>('/v1/templates', { kind: 'layout', limit: 100 }, signal), [])
  const known = (data?.data ?? [])
    .filter(({ alias, mode }) => alias !== null && (mode === 'live' || isTest))
    .map(({ alias, name }): [string, string] => [alias, name])
  if (value !== '' && !known.some(([alias]) => alias === value)) known.push([value, value])
  const isNone = data !== undefined && known.length === 0
  return (
    <Field
      name="layout"
      label="Layout"
      hint={
        error !== undefined ? (
          error.message
        ) : isNone ? (
          <a href={href('/templates/new', { kind: 'layout' })}>Create a layout</a>
        ) : (
          'The frame around HTML and plain text.'
        )
      }
    >
      {(control) => (
        <select {...control} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
          <Options of={[['', 'None'], ...known]} chosen={value} />
        </select>
      )}
    </Field>
  )
}
