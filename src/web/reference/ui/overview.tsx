import type { Reference } from './document.ts'
import { Parameters } from './fields.tsx'
import { KeyField } from './key-field.tsx'
import { Prose } from './prose.tsx'

/** What all operations have in common, keys, and the groups. */
export function Overview({ reference }: { reference: Reference }) {
  const { version, introduction, keys, headers, tags, operations } = reference
  const own = operations.filter(({ permission }) => permission !== null)
  return (
    <div class="stack overview">
      <div class="stack tight">
        <h1>Postrider API</h1>
        <p class="muted">
          Version {version}, {own.length} operations. Each has examples in six languages and a form that calls it with a
          test key.
        </p>
      </div>
      <div class="card">
        <KeyField />
      </div>
      <section class="stack" aria-labelledby="groups">
        <h2 id="groups">Resources</h2>
        <ul class="starters">
          {tags.map(({ slug, name, description }) => (
            <li key={slug}>
              <a href={`#${slug}`}>
                <span class="strong">{name}</span>
                <span class="muted">{description}</span>
              </a>
            </li>
          ))}
        </ul>
      </section>
      <section class="stack" aria-labelledby="basics">
        <h2 id="basics">Requests and responses</h2>
        <Prose text={introduction} />
      </section>
      <section class="stack" aria-labelledby="keys">
        <h2 id="keys">Keys</h2>
        <Prose text={`Send a key in the header \`Authorization: Bearer svc_…\`. ${keys}`} />
      </section>
      <section class="stack" aria-labelledby="headers">
        <h2 id="headers">Headers of requests</h2>
        <Parameters of={headers} />
      </section>
    </div>
  )
}
