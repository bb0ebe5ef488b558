import { useId } from 'preact/hooks'

/** A field for each variable of the texts; nothing without variables. */
export function Variables({
  names,
  missing,
  typed,
  onType,
}: {
  names: readonly string[]
  missing: readonly string[]
  typed: Readonly<Record<string, string>>
  onType: (name: string, text: string) => void
}) {
  if (names.length === 0) return null
  return (
    <fieldset class="card stack">
      <legend class="hidden">Variables</legend>
      <h2>Variables</h2>
      <p class="muted small">
        For the preview and tests. Enter text, a number, true or false; lists and objects as JSON, such as{' '}
        <code>{'[{"name":"Tea"}]'}</code>.
      </p>
      <div class="columns">
        {names.map((name) => (
          <Variable
            key={name}
            name={name}
            text={typed[name] ?? ''}
            isMissing={missing.includes(name)}
            onType={(text) => onType(name, text)}
          />
        ))}
      </div>
    </fieldset>
  )
}

function Variable({
  name,
  text,
  isMissing,
  onType,
}: {
  name: string
  text: string
  isMissing: boolean
  onType: (text: string) => void
}) {
  const id = useId()
  return (
    <div class="field">
      <label for={id} class="mono break">
        {name}
      </label>
      <input id={id} value={text} onInput={(event) => onType(event.currentTarget.value)} />
      {isMissing && <span class="hint">Required: no default</span>}
    </div>
  )
}
