declare module 'virtual:icons' {
  /** The shapes of each icon: a tag and its attributes. */
  export const icons: Record<string, [tag: string, attributes: Record<string, string>][]>
}
