import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Parameter, Schema } from './document.ts'
import { Inline } from './prose.tsx'
import { limitsOf, objectsIn, typeOf, valuesOf } from './schema.ts'
import { reference } from './state.ts'

/** The fields of the objects in a schema; its type if it contains none. */
export function Fields({ schema }: { schema: Schema }) {
  const objects = objectsIn(schema, reference.value!.resolve)
  if (objects.length === 0) return <p class="muted small">{typeOf(schema)}</p>
  return (
    <>
      {objects.map((object, at) => (
        <>
          {objects.length > 1 && <p class="muted small">{at === 0 ? 'One of:' : 'or'}</p>}
          <ul class="fields">
            {Object.entries(object.properties ?? {}).map(([name, field]) => (
              <FieldLine
                key={name}
                name={name}
                schema={field}
                type={typeOf(field)}
                isRequired={object.required?.includes(name) ?? false}
                description={field.description}
              />
            ))}
          </ul>
        </>
      ))}
    </>
  )
}

/** Parameters as a list like that of Fields. */
export function Parameters({ of: parameters }: { of: readonly Parameter[] }) {
  return (
    <ul class="fields">
      {parameters.map(({ name, in: part, required = false, schema, description }) => (
        <FieldLine
          key={name}
          name={name}
          schema={schema}
          type={`${part}, ${typeOf(schema)}`}
          isRequired={required}
          description={description}
        />
      ))}
    </ul>
  )
}

function FieldLine({
  name,
  schema,
  type,
  isRequired,
  description,
}: {
  name: string
  schema: Schema
  type: string
  isRequired: boolean
  description: string | undefined
}) {
  const limits = limitsOf(schema)
  const values = valuesOf(schema)
  const hasFields = objectsIn(schema, reference.value!.resolve).length > 0
  return (
    <li>
      <div class="field-head">
        <code class="strong">{name}</code> <span class="muted small break">{type}</span>
        {isRequired && <span class="required small">required</span>}
        {limits !== '' && <span class="muted small break">{limits}</span>}
      </div>
      {description !== undefined && (
        <p>
          <Inline text={description} />
        </p>
      )}
      {values.length > 0 && (
        <Fold summary={`${values.length} values`}>
          <p class="muted small">{values.map((value) => JSON.stringify(value)).join(', ')}</p>
        </Fold>
      )}
      {hasFields && (
        <Fold summary={`Fields of ${name}`}>
          <Fields schema={schema} />
        </Fold>
      )}
    </li>
  )
}

/** A details element whose content is made when it is first opened. */
export function Fold({
  summary,
  children,
  className,
}: {
  summary: ComponentChildren
  children: ComponentChildren
  className?: string
}) {
  const [wasOpened, setOpened] = useState(false)
  return (
    <details class={className} onToggle={(event) => event.currentTarget.open && setOpened(true)}>
      <summary>{summary}</summary>
      {wasOpened && children}
    </details>
  )
}
