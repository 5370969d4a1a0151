#!/usr/bin/env node
/** The oldest version that has what this program imports. An older one would fail on a missing export, before any line of it. */
const oldest = { major: 20, minor: 19 }

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < oldest.major || (major === oldest.major && minor < oldest.minor)) {
  process.stderr.write(
    `bezant: Node ${process.versions.node} is too old: install Node ${oldest.major}.${oldest.minor} or newer\n`,
  )
  process.exit(1)
}

// Loaded only now: imports at the top are resolved before the version is compared.
import('#cli/command-line')
  .then(({ runCommandLine }) => runCommandLine(process.argv.slice(2)))
  .then((code) => process.exit(code))
