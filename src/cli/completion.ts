import { type Command, type CommandTable, chooseAction, type ListedCommand } from './command.ts'

/** The command that prints completions of all commands in the table. */
export const completionOf = (commands: CommandTable): Command => ({
  usage: `bezant completion bash|zsh|fish

Prints a script that completes commands, actions and options. To have it in every new shell:

  bash   bezant completion bash >> ~/.bashrc
  zsh    bezant completion zsh >> ~/.zshrc
  fish   bezant completion fish > ~/.config/fish/completions/bezant.fish`,
  takesArguments: true,
  options: {},
  run: async (args) => {
    const scriptOf = chooseAction('completion', args, shells)
    process.stdout.write(scriptOf(await wordsOf(commands)))
    return 0
  },
})

/** The words that may follow each path of words: commands follow the empty one. */
type Completions = ReadonlyMap<string, readonly string[]>

async function wordsOf(commands: CommandTable): Promise<Completions> {
  const words = new Map([['', [...Object.keys(commands), 'help', 'version']]])
  const add = async (path: string, listed: ListedCommand) => {
    const { usage, options } = await listed.load()
    const nouns = (await listed.loadNouns?.()) ?? {}
    const flags = [...Object.keys(options), 'help'].map((name) => `--${name}`)
    words.set(path, [...new Set([...actionsIn(path, usage), ...Object.keys(nouns), ...flags])])
    for (const [noun, each] of Object.entries(nouns)) await add(`${path} ${noun}`, each)
  }
  for (const [name, listed] of Object.entries(commands)) await add(name, listed)
  return words
}

/** The usage of a command names its actions: `bezant chain list`, `bezant completion bash|zsh|fish`. */
const actionsIn = (path: string, usage: string): string[] =>
  [...usage.matchAll(new RegExp(`bezant ${path} ([a-z][a-z|-]*)`, 'g'))].flatMap(([, words]) =>
    words!.split('|'),
  )

const bashScript = (words: Completions) => `# Completion of bezant for bash.
_bezant() {
  local path="\${COMP_WORDS[*]:1:COMP_CWORD-1}" words
  while :; do
    case "$path" in
${casesOf(words)}
    esac
    case "$path" in *' '*) path="\${path% *}" ;; *) return ;; esac
  done
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _bezant bezant
`

const zshScript = (words: Completions) => `# Completion of bezant for zsh, by that for bash.
autoload -U +X compinit && compinit
autoload -U +X bashcompinit && bashcompinit
${bashScript(words)}`

const fishScript = (words: Completions) => `# Completion of bezant for fish.
complete -c bezant -e
${[...words].map(([path, each]) => fishLine(path, each)).join('\n')}
`

const shells: Record<string, (words: Completions) => string> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
}

/** A path that is no command, as of one with arguments, is shortened until it is one. */
const casesOf = (words: Completions): string =>
  [...words].map(([path, each]) => `      '${path}') words='${each.join(' ')}'; break ;;`).join('\n')

function fishLine(path: string, words: readonly string[]): string {
  const names = path.split(' ').filter(Boolean)
  const condition =
    names.length === 0
      ? '__fish_use_subcommand'
      : names.map((name) => `__fish_seen_subcommand_from ${name}`).join('; and ')
  return `complete -c bezant -n '${condition}' -a '${words.join(' ')}'`
}
