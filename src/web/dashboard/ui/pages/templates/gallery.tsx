import { STARTER_LIST } from '../../../starters/list.ts'
import { get, type Json } from '../../kit/api.ts'
import { useLoad } from '../../kit/load.ts'
import { ErrorNotice, Head } from '../../kit/pieces.tsx'
import { href, place } from '../../kit/router.ts'
import { keptDraft } from './draft.ts'
import { Editor } from './editor.tsx'
import { kindOf, kindText, STARTS } from './kinds.ts'
import { Thumbnail } from './thumbnail.tsx'

/** A new template: first the choice of its content, then the editor. Unsaved changes of a new template open at once.
 *  `?kind=` makes a layout or partial, which have nothing to choose from. */
export function NewTemplate() {
  const { start, kind: wanted } = place.value.query
  const kind = kindOf(wanted)
  if (kind !== 'message') return <Editor of={null} kind={kind} start={STARTS[kind]} />
  if (start === BLANK || keptDraft(kindText('message')) !== null) return <Editor of={null} />
  return STARTER_LIST.some(([alias]) => alias === start) ? <Started key={start} alias={start!} /> : <Gallery />
}

const BLANK = 'blank'

const FOLDER = '/dashboard/starter-templates'

/** The starters as they look with their samples. */
function Gallery() {
  const { data: previews } = useLoad<Record<string, string>>((signal) => get(`${FOLDER}/previews.json`, {}, signal), [])
  return (
    <>
      <Head name="New template" about="Choose what to start from. You can change everything." />
      <ul class="starters">
        {[[BLANK, 'Blank template', 'Write your own HTML or plain text.'] as const, ...STARTER_LIST].map(
          ([alias, name, about]) => (
            <li key={alias}>
              <Thumbnail html={previews?.[alias]} />
              <a href={href('/templates/new', { start: alias })} data-row>
                <span class="strong">{name}</span>
                <span class="muted">{about}</span>
              </a>
            </li>
          ),
        )}
      </ul>
    </>
  )
}

/** Loads a starter template into the editor. */
function Started({ alias }: { alias: string }) {
  const path = `${FOLDER}/${alias}.json`
  const { data, error, reload } = useLoad<Json>((signal) => get(path, {}, signal), [alias])
  if (data !== undefined) return <Editor of={null} start={data} />
  return error ? <ErrorNotice error={error} onRetry={reload} /> : <Head name="New template" />
}
