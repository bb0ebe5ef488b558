import type { CONTENTS } from './contents.ts'
import type { ManualPage } from './markdown.ts'

/** Pages of the manual → `/llms.txt`: what Postrider is, and every page with its link and summary. In the format of
 *  https://llmstxt.org: a title, a quote, text, then lists of links under headings. */
export function llmsText(contents: typeof CONTENTS, pages: ReadonlyMap<string, ManualPage>): string {
  const groups = contents.map(({ name, topics }) => {
    const items = topics.map((topic) => {
      const { title, summary } = pages.get(topic)!
      return `- [${title}](/manual/${topic}.md): ${summary.replaceAll(/\s+/g, ' ')}`
    })
    const others = name === 'Reference' ? [OPEN_API] : []
    return [`## ${name}`, '', ...items, ...others].join('\n')
  })
  return `${[ABOUT, ...groups].join('\n\n')}\n`
}

const ABOUT = `# Postrider

> Postrider is a transactional email service on one's own Linux server. A program makes an HTTP request, and Postrider \
delivers a signed mail to the recipient's server. It also receives mail and posts it to programs.

The HTTP API is under \`/v1\`. Every request needs an API key in the header \`Authorization: Bearer svc_…\`. With a test key, \
which begins with \`svc_test_\`, nothing is delivered. \`/mcp\` has tools for agents, with the same keys.`

const OPEN_API =
  '- [OpenAPI document](/openapi.json): Every operation, field, response and error of the HTTP API, as JSON.'
