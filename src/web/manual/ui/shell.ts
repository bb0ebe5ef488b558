import { nearest } from '../../reference/ui/nearest.ts'
import { addCopyButtons, addLanguageTabs } from './code-blocks.ts'
import { loadEntries, startSearch } from './search.ts'
import { applyTheme, startThemeSwitch } from './theme.ts'

/** The script of manual and API reference: theme, search, and code blocks. Every page of the manual is complete without
 *  it. */

applyTheme()
document.addEventListener('DOMContentLoaded', () => {
  document.querySelector('#navigation [aria-current]')?.scrollIntoView({ block: 'nearest' })
  startThemeSwitch()
  startSearch()
  addLanguageTabs()
  addCopyButtons()
  const place = document.getElementById('nearest')
  if (place !== null) void listNearest(place)
})

/** The pages with addresses like the wrong one. */
async function listNearest(place: HTMLElement): Promise<void> {
  const pages = new Map(
    (await loadEntries())
      .filter(([path]) => /^\/manual\/[^#]+$/.test(path))
      .map(([path, title]) => [path.slice(8), title]),
  )
  const wrong = window.location.pathname.replace('/manual/', '')
  const list = document.createElement('ul')
  for (const topic of nearest(wrong, [...pages.keys()])) {
    const item = document.createElement('li')
    const link = document.createElement('a')
    link.href = `/manual/${topic}`
    link.textContent = pages.get(topic) ?? topic
    item.append(link)
    list.append(item)
  }
  const heading = document.createElement('h2')
  heading.textContent = 'Nearest pages'
  place.append(heading, list)
}
