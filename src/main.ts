#!/usr/bin/env node
import { runCommandLine } from '#cli/command-line'

runCommandLine(process.argv.slice(2)).then((code) => process.exit(code))
