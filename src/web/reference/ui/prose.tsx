import type { ComponentChildren } from 'preact'

/** The subset of CommonMark in descriptions: paragraphs, `code` and tables. Everything else is plain text. */
export function Prose({ text }: { text: string }) {
  return (
    <>
      {text.split(/\n\n+/).map((block, at) =>
        block.startsWith('|') ? (
          <Table key={at} rows={block.split('\n')} />
        ) : (
          <p key={at}>
            <Inline text={block} />
          </p>
        ),
      )}
    </>
  )
}

/** A line of text with `code`. */
export function Inline({ text }: { text: string }) {
  const parts = text.replaceAll(/\\([|<])/g, '$1').split(/(`[^`]+`)/)
  return (
    <>
      {parts.map((part, at) =>
        part.length > 2 && part.startsWith('`') ? <code key={at}>{withBreaks(part.slice(1, -1))}</code> : part,
      )}
    </>
  )
}

/** A path or name with places to break a line after its punctuation. */
export function withBreaks(text: string): ComponentChildren {
  return text.split(/(?<=[/_.:=@?&])(?=[\w{])/).flatMap((part, at) => (at === 0 ? [part] : [<wbr key={at} />, part]))
}

function Table({ rows: [head = '', , ...rows] }: { rows: string[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls needs the keyboard
    <section class="scroll" aria-label={`Table: ${cellsOf(head)[0]}`} tabIndex={0}>
      <table class="prose-table">
        <thead>
          <tr>
            {cellsOf(head).map((cell) => (
              <th key={cell} scope="col">
                <Inline text={cell} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row}>
              {cellsOf(row).map((cell, at) => (
                <td key={at}>
                  <Inline text={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

const cellsOf = (row: string) =>
  row
    .replaceAll(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim())
