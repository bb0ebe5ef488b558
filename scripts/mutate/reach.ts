import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

/** The files of a checkout → which tests can reach a file, the nearest first. A test reaches the files that it or
 *  its imports name: by `import`, or as the path of a worker or of a started program. */
export function testReach(root: string): (file: string) => string[] {
  const files = [...new Bun.Glob('{src,test,scripts}/**/*.{ts,tsx}').scanSync(root)].sort()
  const used = new Map(files.map((file) => [file, filesNamedIn(root, file)]))
  const users = new Map<string, string[]>()
  for (const [file, names] of used) for (const name of names) users.set(name, [...(users.get(name) ?? []), file])
  return (file) => {
    const reached = new Set([file])
    for (const each of reached) for (const user of users.get(each) ?? []) reached.add(user) // breadth first
    return [...reached].filter((each) => /\.test\.tsx?$/.test(each))
  }
}

function filesNamedIn(root: string, file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8')
  const named = new Set<string>()
  for (const [, path = ''] of text.matchAll(/['"](\.{1,2}\/[^'"\n]+\.tsx?)['"]/g)) {
    const target = relative(root, join(root, dirname(file), path))
    if (existsSync(join(root, target))) named.add(target)
  }
  // Type-only lines reach nothing at run time.
  for (const [, path = ''] of text.matchAll(/^(?:import|export) type [^'"]*['"](\.{1,2}\/[^'"\n]+)['"]/gm)) {
    const target = relative(root, join(root, dirname(file), path))
    if (!new RegExp(`^(?:import|export) (?!type)[^'"]*['"]${RegExp.escape(path)}['"]`, 'm').test(text))
      named.delete(target)
  }
  return [...named]
}
