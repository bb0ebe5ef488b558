import { nameOf, type Operation, type Response } from './document.ts'
import { Examples, JsonBox } from './examples.tsx'
import { Fields, Fold, Parameters } from './fields.tsx'
import { Method } from './method.tsx'
import { Inline, Prose, withBreaks } from './prose.tsx'
import { objectsIn } from './schema.ts'
import { reference } from './state.ts'
import { TryIt } from './try-it.tsx'

/** One operation: what it does and takes on the left, examples and a form that calls it on the right. */
export function OperationPage({ operation }: { operation: Operation }) {
  const { method, path, summary, description, permission, parameters, body, responses } = operation
  const isWebhook = permission === null
  return (
    <article class="operation">
      <header class="stack tight">
        <h1>{summary}</h1>
        <p class="row path-line">
          <Method of={method} />
          <code>{withBreaks(path)}</code>
          {!isWebhook && <span class="chip">{permission}</span>}
        </p>
      </header>
      <div class="sides">
        <div class="stack about">
          <div class="stack">
            <Prose text={description} />
          </div>
          {parameters.length > 0 && (
            <section class="stack tight" aria-labelledby="parameters">
              <h2 id="parameters">Parameters</h2>
              <Parameters of={parameters} />
            </section>
          )}
          {body !== null && (
            <section class="stack tight" aria-labelledby="body">
              <h2 id="body">{body.isRequired ? 'Request body' : 'Request body, optional'}</h2>
              <Fields schema={body.schema} />
            </section>
          )}
          <Responses of={responses} />
        </div>
        <div class="stack beside">
          {isWebhook ? (
            body?.example !== undefined && (
              <JsonBox value={body.example} label="Example request body" caption="Request body" />
            )
          ) : (
            <>
              <Examples operation={operation} />
              <TryIt operation={operation} />
              <ExampleResponses of={responses} />
            </>
          )}
        </div>
      </div>
      <Neighbours of={operation} />
    </article>
  )
}

/** The operations before and after this one. */
function Neighbours({ of: operation }: { of: Operation }) {
  const { operations } = reference.value!
  const at = operations.indexOf(operation)
  const turn = (to: Operation | undefined, label: string) =>
    to === undefined ? (
      <span />
    ) : (
      <a href={`#${to.id}`}>
        <span class="muted small">{label}</span> {nameOf(to)}
      </a>
    )
  return (
    <nav class="turn" aria-label="Neighbouring operations">
      {turn(operations[at - 1], 'Previous')}
      {turn(operations[at + 1], 'Next')}
    </nav>
  )
}

const isGood = ([status]: readonly [string, Response]) => status < '300' || status === '2XX'

function Responses({ of: responses }: { of: Operation['responses'] }) {
  const bad = responses.filter((each) => !isGood(each))
  return (
    <section class="stack tight" aria-labelledby="responses">
      <h2 id="responses">Responses</h2>
      {responses.filter(isGood).map(([status, { description, content = {} }]) => (
        <div key={status} class="stack tight">
          {description.split('\n').map((line) => (
            <p key={line}>
              <strong class="status good">{status}</strong> <Inline text={line} />
            </p>
          ))}
          {Object.entries(content).map(([type, { schema }]) =>
            objectsIn(schema, reference.value!.resolve).length > 0 ? (
              <Fold key={type} summary={`Fields of ${status}`}>
                <Fields schema={schema} />
              </Fold>
            ) : (
              <p key={type} class="muted small">
                {type}
              </p>
            ),
          )}
        </div>
      ))}
      {bad.length > 0 && (
        <>
          <h3>Errors</h3>
          <ul class="errors">
            {bad.flatMap(([status, { description }]) =>
              description.split('\n\n').map((line) => (
                <li key={line}>
                  <strong class="status">{status}</strong>
                  <span>
                    <Inline text={line} />
                  </span>
                </li>
              )),
            )}
          </ul>
        </>
      )}
    </section>
  )
}

function ExampleResponses({ of: responses }: { of: Operation['responses'] }) {
  return (
    <>
      {responses.filter(isGood).flatMap(([status, { content = {} }]) =>
        Object.entries(content)
          .filter(([, { example }]) => example !== undefined)
          .map(([type, { example }]) => (
            <JsonBox
              key={status + type}
              value={example}
              label={`Example response ${status}, ${type}`}
              caption={`Response ${status}, ${type}`}
            />
          )),
      )}
    </>
  )
}
