import nodes from 'lucide-static/icon-nodes.json'

/** Icon names of Lucide → the content of an `<svg viewBox="0 0 24 24">` by name. Runs while the dashboard is compiled (a
 *  macro of Bun), so that the pages contain the used icons only. Throws for a name that Lucide does not have. */
export function lucide(...names: string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, contentOf(name)]))
}

function contentOf(name: string): string {
  const shapes = (nodes as unknown as Record<string, [tag: string, attributes: Record<string, string>][]>)[name]
  if (shapes === undefined) throw new Error(`Lucide has no icon "${name}"`)
  return shapes
    .map(([tag, attributes]) => {
      const text = Object.entries(attributes).map(([key, value]) => ` ${key}="${value}"`)
      return `<${tag}${text.join('')}/>`
    })
    .join('')
}
