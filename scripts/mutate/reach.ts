import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'

/** The files of a checkout → which tests can reach a file, and how far they are from it. A test reaches the files that
 *  it or its imports name: by `import`, or as the path of a worker or of a started program. The distance is the number
 *  of imports in between; each folder name that both paths have (`storage`) counts as two fewer, and the file's own
 *  name in the test's path as four. */
export function testReach(root: string): (file: string) => Map<string, number> {
  const files = [...new Bun.Glob('{src,test,scripts}/**/*.{ts,tsx}').scanSync(root)].sort()
  const used = new Map(files.map((file) => [file, filesNamedIn(root, file)]))
  const users = new Map<string, string[]>()
  for (const [file, names] of used) for (const name of names) users.set(name, [...(users.get(name) ?? []), file])
  return (file) => {
    const distances = new Map([[file, 0]])
    // Breadth first: the loop also visits what it adds.
    for (const [each, distance] of distances) {
      for (const user of users.get(each) ?? []) if (!distances.has(user)) distances.set(user, distance + 1)
    }
    const folders = new Set(foldersOf(file))
    const name = basename(file).replace(/\.tsx?$/, '')
    const farOf = (test: string) => {
      const shared = foldersOf(test).filter((folder) => folders.has(folder)).length
      return (distances.get(test) ?? 0) - 2 * shared - (test.includes(name) ? 4 : 0)
    }
    const tests = [...distances.keys()].filter((each) => /\.test\.tsx?$/.test(each))
    return new Map(tests.map((test) => [test, farOf(test)]))
  }
}

/** Names of the folders below `src` or `test`. */
const foldersOf = (file: string) => file.split('/').slice(1, -1)

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
