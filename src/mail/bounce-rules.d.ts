declare module '*/bounce-rules.txt' {
  const text: string
  export default text
}
