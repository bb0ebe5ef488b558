import { nearest } from '../../config/suggest.ts'
import { CONTENTS, TOPICS } from '../../web/manual/contents.ts'
import { manualTexts } from '../../web/manual/files.ts'
import { usageFault } from '../failure.ts'
import { colorsFor, print } from '../print.ts'
import { packedManual } from './packed.ts'

/** Prints a page of the manual, or the list of topics if `topic` is undefined. Throws CommandFailure (exit code 2) for
 *  an unknown topic; its message suggests the most similar one. */
export async function printTopic(topic: string | undefined): Promise<void> {
  const { bold } = colorsFor()
  const { topics, textOf } = await manualTexts(await packedManual())
  if (topic === undefined) {
    const width = Math.max(...TOPICS.map(({ length }) => length))
    const lineOf = (each: string) =>
      `  ${each.padEnd(width)}  ${topics.find((entry) => entry.topic === each)?.title ?? ''}`
    const groups = CONTENTS.map(({ name, topics: inGroup }) => [bold(name), ...inGroup.map(lineOf)].join('\n'))
    print([...groups, 'Print a page with: postrider manual TOPIC'].join('\n\n'))
    return
  }
  const text = TOPICS.includes(topic) ? textOf(topic) : null
  if (text === null) throw usageFault(unknown(topic))
  // Headings begin at the margin; everything else is indented.
  print(text.trimEnd().replaceAll(/^(?=\S).*/gm, bold))
}

function unknown(topic: string): string {
  const meant = TOPICS.find((each) => each.startsWith(topic)) ?? nearest(topic, TOPICS)
  const hint = meant === null ? '' : ` Did you mean "${meant}"?`
  return `Unknown topic "${topic}".${hint} "postrider manual" lists all topics.`
}
