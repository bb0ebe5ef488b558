/** The value of `:name` in the path of a route. Throws if the route has no such parameter: a programming error. */
export function pathParameter({ params }: { params: Readonly<Record<string, string>> }, name: string): string {
  const value = params[name]
  if (value === undefined) throw new Error(`the path has no parameter ${name}`)
  return value
}
