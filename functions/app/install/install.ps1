# Installs the CLI of Vitrine for the current user:
#
#   irm URL/install.ps1 | iex
#
# The program goes to $env:VITRINE_INSTALL, by default %LOCALAPPDATA%\Programs\vitrine. Its settings get the address of
# this deployment, if they have none. Nothing else is changed.
#
# Everything is in a function, which the last line calls, so that a part of this script does nothing.

function Install-Vitrine {
  $ErrorActionPreference = 'Stop'
  $ProgressPreference = 'SilentlyContinue' # the bar of Windows PowerShell slows downloads down
  $app = @app@
  $api = @api@
  $version = @version@
  $publish = @publish@
  [Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor 'Tls12'

  if ($app -notmatch '^https://|^http://(localhost|127\.0\.0\.1)(:|$)') {
    throw "$app would send the program without encryption."
  }
  $processor = if ($env:PROCESSOR_ARCHITEW6432) { $env:PROCESSOR_ARCHITEW6432 } else { $env:PROCESSOR_ARCHITECTURE }
  $arch = switch ($processor) {
    'AMD64' { 'amd64' }
    'ARM64' { 'arm64' }
    default { throw "There is no CLI for $processor processors." }
  }
  $folder = if ($env:VITRINE_INSTALL) { $env:VITRINE_INSTALL } else { Join-Path $env:LOCALAPPDATA 'Programs\vitrine' }
  $program = Join-Path $folder 'vitrine.exe'
  $archive = "vitrine_${version}_windows_$arch.zip"

  $have = if (Test-Path $program) { (& $program version) -replace '^vitrine ', '' -replace '-.*$', '' }
  if ($have -and [version]$have -gt [version]$version) {
    "$program is $have, newer than the $version of this deployment, so it stays. Delete it to get $version."
  } else {
    $temporary = Join-Path ([IO.Path]::GetTempPath()) ([IO.Path]::GetRandomFileName())
    New-Item -ItemType Directory -Path $temporary | Out-Null
    try {
      foreach ($name in 'checksums.txt', $archive) {
        Invoke-WebRequest -UseBasicParsing "$app/cli/$version/$name" -OutFile (Join-Path $temporary $name)
      }
      $line = Get-Content (Join-Path $temporary 'checksums.txt') | Where-Object { $_.EndsWith("  $archive") }
      if (-not $line) { throw "This deployment has no CLI for Windows on $arch." }
      $wanted = $line.Split(' ')[0]
      $got = (Get-FileHash -Algorithm SHA256 (Join-Path $temporary $archive)).Hash
      if ($got -ne $wanted) {
        throw "$archive did not arrive as it was sent: its SHA-256 is $got and should be $wanted."
      }
      Expand-Archive (Join-Path $temporary $archive) $temporary
      $said = & (Join-Path $temporary 'vitrine.exe') version
      if ($said -ne "vitrine $version") { throw 'The program does not run on this machine.' }
      New-Item -ItemType Directory -Force -Path $folder | Out-Null
      $new = "$program.new"
      Copy-Item (Join-Path $temporary 'vitrine.exe') $new
      Move-Item -Force $new $program
    } finally {
      Remove-Item -Recurse -Force $temporary
    }
    "vitrine $version is installed: $program"
  }

  $setting = & $program config get url --json | ConvertFrom-Json
  if ($setting.source -eq 'default') {
    & $program config set url $api | Out-Null
  } elseif ($setting.value -ne $api) {
    "It talks to another deployment. To use this one: vitrine config set url $api"
  }
  if (($env:Path -split ';') -notcontains $folder) {
    'This folder is not in your Path. To find the program there from now on, run:'
    "  [Environment]::SetEnvironmentVariable('Path', [Environment]::GetEnvironmentVariable('Path', 'User') + ';$folder', 'User')"
  }
  "Next: $publish"
}

Install-Vitrine
